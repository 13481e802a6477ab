import type { Application } from '../applications/application.js';

/** Lifetime of every access token in seconds (interface: Limits). */
export const TOKEN_LIFETIME_SECONDS = 3600;

/** Who issues our tokens: `iss` of each, and `issuer` of the principals made from them. */
export function tokenIssuer(publicUrl: string): string {
  return `${publicUrl}/appidpv1`;
}

/** `aud` of our tokens. */
export function tokenAudience(publicUrl: string): string {
  return `${publicUrl}/archivist`;
}

/** Claims that the service sets itself: a custom claim of the same name never gets through. */
export const RESERVED_CLAIMS: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'client_id',
  'name',
  'jit_tenant_id',
  'jit_tier',
  'jit_roles',
]);

/** Header and claims of an application's token (interface: Authentication 5; `jit_roles` is ours). */
export function accessTokenClaims(
  application: Application,
  issued: { publicUrl: string; tokenId: string; nowSeconds: number },
): Record<string, unknown> {
  const custom = Object.entries(application.customClaims).filter(([name]) => !RESERVED_CLAIMS.has(name));
  return {
    ...Object.fromEntries(custom),
    jit_tenant_id: `tenant/${application.tenantId}`,
    jit_tier: 'STANDARD',
    jit_roles: [...application.roles],
    name: application.displayName,
    client_id: application.applicationId,
    sub: application.applicationId,
    jti: issued.tokenId,
    iat: issued.nowSeconds,
    exp: issued.nowSeconds + TOKEN_LIFETIME_SECONDS,
    iss: tokenIssuer(issued.publicUrl),
    aud: tokenAudience(issued.publicUrl),
  };
}
