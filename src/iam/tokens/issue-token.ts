import type { Clock } from '../../platform/clock.js';
import { MOST_DIFFERENCE_MS } from '../../platform/clock-offset.js';
import type { Ids } from '../../platform/ids.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import { type Application, applicationIdentity, type Credential } from '../applications/application.js';
import { findApplicationForToken } from '../applications/application-store.js';
import { hashClientSecret, sameSecretHash } from '../applications/client-secret.js';
import type { LinesPerAddress } from '../security/lines-per-address.js';
import { recordSecurityEvent, tellSecurityEvent } from '../security/record-security-event.js';
import { accessTokenClaims, TOKEN_LIFETIME_SECONDS } from './access-token.js';
import type { GuessGuard } from './guess-guard.js';
import type { TokenRequest } from './token-request.js';

export interface IssueTokenDeps {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: string;
  readonly logger: Logger;
  readonly guard: GuessGuard;
  readonly lines: LinesPerAddress;
}

/** The response of the token endpoint (docs/design/interface.md#existing-clients). */
interface IssuedToken {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: 'Bearer';
  /**
   * When the secret that was used expires, in Unix seconds (the name is from RFC 7591); an extension, so that clients
   * can warn in time.
   */
  readonly client_secret_expires_at: number;
}

const NO_APPLICATION = '00000000-0000-0000-0000-000000000000';
const NO_HASH = new Uint8Array(32);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns a token for an application that authenticates with its secret, or undefined. An unknown client costs the same
 * as a wrong secret: the same query, as many keyed hashes and comparisons, one counted guess.
 * @throws {ApiError} rate_limited for a client that is locked out at this address
 */
export async function issueToken(
  deps: IssueTokenDeps,
  request: TokenRequest & { readonly address: string },
): Promise<IssuedToken | undefined> {
  const claimedId = request.clientId.toLowerCase();
  const clientId = UUID.test(claimedId) ? claimedId : NO_APPLICATION;
  await deps.guard.admit(clientId, request.address);
  const now = deps.clock.now();
  const found = await deps.database.inTransaction('system', (tx) => findApplicationForToken(tx, clientId));
  const offered = request.clientSecrets.map((secret) => hashClientSecret(deps.keyring.pepper, clientId, secret));
  const used = matchingSecret(offered, found?.credentials ?? [], now);
  // Guesses at the same time were all admitted above. Right and wrong secrets are decided alike, so that a lock-out does
  // not tell which this one is.
  const lockedOut = await deps.guard.decide(clientId, request.address, used !== undefined);
  if (!used || !found) {
    tellGuess(deps, { clientId, address: request.address, lockedOut }, found?.application.tenantId);
    return undefined;
  }
  return {
    access_token: await signedToken(deps, found, now),
    expires_in: TOKEN_LIFETIME_SECONDS,
    token_type: 'Bearer',
    client_secret_expires_at: Math.floor(used.validUntil.getTime() / 1000),
  };
}

/** Logs wrong secrets, alike for clients that do not exist; a lock-out is recorded in the audit of the client's tenancy. */
function tellGuess(
  deps: IssueTokenDeps,
  { clientId, address, lockedOut }: { clientId: string; address: string; lockedOut: boolean },
  tenantId: string | undefined,
): void {
  const refused = {
    actor: { issuer: '', subject: clientId, displayName: '' },
    resource: applicationIdentity(clientId),
    outcome: 'failure' as const,
    details: { address },
  };
  deps.lines(address, () =>
    tellSecurityEvent(deps.logger, { ...refused, action: 'token.refuse', ...(tenantId ? { tenantId } : {}) }),
  );
  if (!lockedOut || tenantId === undefined) return;
  const lockout = { ...refused, tenantId, action: 'token.lockout' } as const;
  // The response does not wait: its time would reveal that the client exists.
  deps.database
    .inTransaction({ read: [tenantId], write: [tenantId] }, (tx) => recordSecurityEvent(tx, deps, lockout))
    .catch((error: unknown) =>
      deps.logger.error({ err: error }, 'a lock-out could not be recorded in the security audit'),
    );
}

/** Compares with every credential, so that the time reveals nothing. */
function matchingSecret(
  offered: readonly Uint8Array[],
  credentials: readonly Credential[],
  nowMs: number,
): Credential | undefined {
  let matching: Credential | undefined;
  const isOffered = (stored: Uint8Array) => offered.filter((each) => sameSecretHash(each, stored)).length > 0;
  if (credentials.length === 0) isOffered(NO_HASH);
  for (const credential of credentials) {
    const same = isOffered(credential.secretHmac);
    // A process whose clock is ahead of this one may have made it just now.
    const hasBegun = credential.validFrom.getTime() <= nowMs + MOST_DIFFERENCE_MS;
    const inTime = hasBegun && nowMs < credential.validUntil.getTime();
    if (same && inTime) matching = credential;
  }
  return matching;
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
