/** Of an access token; its text is that of `tenant_identity`. */
const CLAIM = 'jit_tenant_id';

/**
 * The tenancy that an access token is for, as `tenant/<uuid>` (docs/design/interface.md#authentication); undefined if the
 * token does not name one. The signature is not checked: the service that gave the token does that.
 */
export function tenancyOfToken(token: string): string | undefined {
  const claims = token.split('.')[1] ?? '';
  try {
    const { [CLAIM]: tenancy } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { [CLAIM]?: unknown };
    return typeof tenancy === 'string' && tenancy !== '' ? tenancy : undefined;
  } catch {
    return undefined;
  }
}
