import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Database } from '../../platform/postgres/database.js';
import type { Application, Credential } from '../applications/application.js';
import { findApplicationForToken } from '../applications/application-store.js';
import { hashClientSecret, sameSecretHash } from '../applications/client-secret.js';
import { accessTokenClaims, TOKEN_LIFETIME_SECONDS } from './access-token.js';

export interface IssueTokenDeps {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: string;
}

/** The answer of the token endpoint (client contract 1.1.2, 1.2, 1.3 need all three members). */
export interface IssuedToken {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: 'Bearer';
}

const NO_APPLICATION = '00000000-0000-0000-0000-000000000000';
const NO_HASH = new Uint8Array(32);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * A token for an application that proves itself by its secret, or undefined. An unknown client costs what a wrong
 * secret costs: the same query, one keyed hash and one comparison.
 */
export async function issueToken(
  deps: IssueTokenDeps,
  request: { clientId: string; clientSecret: string },
): Promise<IssuedToken | undefined> {
  const claimedId = request.clientId.toLowerCase();
  const clientId = UUID.test(claimedId) ? claimedId : NO_APPLICATION;
  const now = deps.clock.now();
  const found = await deps.database.inTransaction('system', (tx) => findApplicationForToken(tx, clientId));
  const offered = hashClientSecret(deps.keyring.pepper, clientId, request.clientSecret);
  if (!secretHolds(offered, found?.credentials ?? [], now) || !found) return undefined;
  return {
    access_token: await signedToken(deps, found, now),
    expires_in: TOKEN_LIFETIME_SECONDS,
    token_type: 'Bearer',
  };
}

function secretHolds(offered: Uint8Array, credentials: readonly Credential[], nowMs: number): boolean {
  let holds = false;
  if (credentials.length === 0) sameSecretHash(offered, NO_HASH);
  for (const credential of credentials) {
    const same = sameSecretHash(offered, credential.secretHmac);
    const inTime = credential.validFrom.getTime() <= nowMs && nowMs < credential.validUntil.getTime();
    holds = holds || (same && inTime);
  }
  return holds;
}

function signedToken(
  deps: IssueTokenDeps,
  { application, epoch }: { application: Application; epoch: number },
  nowMs: number,
): Promise<string> {
  const claims = accessTokenClaims(application, {
    publicUrl: deps.publicUrl,
    tokenId: deps.ids.uuid(),
    nowSeconds: Math.floor(nowMs / 1000),
    epoch,
  });
  return deps.keyring.signToken(claims, { typ: 'at+jwt' });
}
