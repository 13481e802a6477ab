import { toBase64Url } from '../core/bytes.js';
import type { Signer } from '../core/cose/signature.js';
import type { LogName } from '../core/receipt/log-claims.js';
import type { ReceiptTrust } from '../core/verify/verify-receipt.js';
import type { PublishedKey } from '../platform/keys/keyring.js';
import { nodeSha256 } from '../platform/node-sha256.js';
import type { LedgerContext } from './ledger-context.js';
import { currentGeneration, type LogState } from './log.js';

/** The role of the key that signs a log's states. */
export function logRole(log: LogState): 'seal' | 'statement_receipt' {
  return log.structure === 'MMR_SHA256' ? 'seal' : 'statement_receipt';
}

/** The key that signs a log's next state. */
export function logSigner(context: LedgerContext, log: LogState): Signer {
  return context.keyring.signer(logRole(log));
}

/** The name of a log in everything that it signs. */
export function logName(context: LedgerContext, log: LogState): LogName {
  return { issuer: context.receiptIssuer, subject: log.name };
}

/**
 * The id of a key in the rows of seals and peak receipts. A forked log signs its peaks again, under its new name: there the
 * generation is part of the id.
 */
export function sealKeyId(kid: Uint8Array, generation: number): string {
  return generation === 0 ? toBase64Url(kid) : `${toBase64Url(kid)}.${generation}`;
}

/** The id of the key that signs the log's next seal. */
export function keyIdOf(signer: Signer, log: LogState): string {
  return sealKeyId(signer.kid, currentGeneration(log));
}

/**
 * Trusts the log's own keys, including retired ones, and its subject. The issuer is not checked: it is a URL that an
 * operator may change, and older signatures keep the old one.
 * @param name of the log in what is checked; default: its name now
 */
export function ownTrust(
  context: { readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'> } & Pick<LedgerContext, 'verifySignature'>,
  log: LogState,
  name: string = log.name,
): ReceiptTrust {
  return {
    logKeys: context.keyring.everyKey([logRole(log)]).map((key) => key.jwk),
    verifySignature: context.verifySignature,
    sha256: nodeSha256,
    log: { subject: name },
  };
}

/** Which keys count in the signatures over logs, by the ids of the keys themselves. */
export interface CountedKeys {
  readonly valid: readonly string[];
  /** What they signed proves nothing to who knows of the revocation. */
  readonly revoked: readonly string[];
}

/** What counts now: each process learns of a revocation within two seconds. */
export function countedKeys(keyring: Pick<LedgerContext['keyring'], 'everyKey'>): CountedKeys {
  const ids = (keys: readonly PublishedKey[]) => keys.map(({ keyId }) => keyId);
  const all = keyring.everyKey(['seal', 'statement_receipt']);
  return {
    valid: ids(all.filter(({ state }) => state !== 'revoked')),
    revoked: ids(all.filter(({ state }) => state === 'revoked')),
  };
}

/** Whether a seal with this id of its key is by a key that was revoked. */
export function isRevoked({ revoked }: CountedKeys, sealKey: string): boolean {
  return revoked.includes(sealKey.split('.')[0]!);
}
