import type { VerifySignature } from '../core/cose/signature.js';
import type { HashEnvelopeLabels } from '../core/statement/signed-statement.js';
import type { Clock } from '../platform/clock.js';
import type { Keyring } from '../platform/keys/keyring.js';
import type { Logger } from '../platform/logger.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { Database } from '../platform/postgres/database.js';
import type { Failpoints } from './failpoints.js';
import type { LeafSource, StatementSource } from './leaf-source.js';
import type { LogRef } from './log.js';
import type { SealedBatch } from './sealed-batch.js';

/** The inputs of the ledger's operations. */
export interface LedgerContext {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly keyring: Pick<Keyring, 'signer' | 'everyKey'>;
  readonly verifySignature: VerifySignature;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly failpoints: Failpoints;
  /**
   * Called when a seal of the log is published: it can back receipts from now on. Must not throw.
   * @param batch of an RFC 9162 log, if this process has committed it just now
   */
  readonly published: (log: LogRef, batch?: SealedBatch) => void;
  readonly leafSource: LeafSource;
  readonly statementSource: StatementSource;
  /** Claim 1 of seals and receipts. */
  readonly receiptIssuer: string;
  /** Claim 1 of the statements about a tenancy's events. */
  readonly statementIssuer: (tenantId: string) => string;
  /** Header labels of hash envelopes in statements; default private. */
  readonly hashEnvelopeLabels?: HashEnvelopeLabels;
}
