import type { Application } from '../applications/application.js';
import { isReservedClaim } from '../applications/custom-claims.js';
import { tokenIssuer } from '../token-issuer.js';

/** Lifetime of every access token in seconds (docs/design/interface.md#limits). */
export const TOKEN_LIFETIME_SECONDS = 3600;

/** `aud` of our tokens. */
export function tokenAudience(publicUrl: string): string {
  return `${publicUrl}/archivist`;
}

/** Characters of the name in a token, which has to fit into a header (custom-claims.ts). */
const MAX_NAME = 128;

/** How often the client's tokens had been revoked when this one was issued; missing means never. */
export const EPOCH_CLAIM = 'jit_epoch';

/**
 * Claims of an application's token (docs/design/interface.md#authentication). It has no roles: the permissions of an
 * application are read from the database on each request.
 */
export function accessTokenClaims(
  application: Application,
  issued: { publicUrl: string; tokenId: string; nowSeconds: number; epoch: number },
): Record<string, unknown> {
  const custom = Object.entries(application.customClaims).filter(([name]) => !isReservedClaim(name));
  return {
    ...Object.fromEntries(custom),
    ...(issued.epoch === 0 ? {} : { [EPOCH_CLAIM]: issued.epoch }),
    jit_tenant_id: `tenant/${application.tenantId}`,
    jit_tier: 'PREMIUM',
    name: [...application.displayName].slice(0, MAX_NAME).join(''),
    client_id: application.applicationId,
    sub: application.applicationId,
    jti: issued.tokenId,
    iat: issued.nowSeconds,
    exp: issued.nowSeconds + TOKEN_LIFETIME_SECONDS,
    iss: tokenIssuer(issued.publicUrl),
    aud: tokenAudience(issued.publicUrl),
  };
}
