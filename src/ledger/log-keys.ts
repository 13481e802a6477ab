import { toBase64Url } from '../core/bytes.js';
import type { Signer } from '../core/cose/signature.js';
import type { LogName } from '../core/receipt/log-claims.js';
import type { ReceiptTrust } from '../core/verify/verify-receipt.js';
import { nodeSha256 } from '../platform/node-sha256.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';

const roleOf = (log: LogState) => (log.structure === 'MMR_SHA256' ? 'seal' : 'statement_receipt');

/** The key that signs a log's next state. */
export function logSigner(context: LedgerContext, log: LogState): Signer {
  return context.keyring.signer(roleOf(log));
}

/** The name of a log in everything that it signs. */
export function logName(context: LedgerContext, log: LogState): LogName {
  return { issuer: context.receiptIssuer, subject: log.name };
}

/** The id of the key in the rows of seals and peak receipts. */
export function keyIdOf(signer: Signer): string {
  return toBase64Url(signer.kid);
}

/**
 * Trusts the log's own keys, including retired ones, and its subject. The issuer is not checked: it is a URL that an
 * operator may change, and older signatures keep the old one.
 */
export function ownTrust(
  context: { readonly keyring: Pick<LedgerContext['keyring'], 'everyKey'> } & Pick<LedgerContext, 'verifySignature'>,
  log: LogState,
): ReceiptTrust {
  return {
    logKeys: context.keyring.everyKey([roleOf(log)]).map((key) => key.jwk),
    verifySignature: context.verifySignature,
    sha256: nodeSha256,
    log: { subject: log.name },
  };
}
