/** The issuer of our tokens: `iss` of each, and `issuer` of the principals made from them. */
export function tokenIssuer(publicUrl: string): string {
  return `${publicUrl}/appidpv1`;
}
