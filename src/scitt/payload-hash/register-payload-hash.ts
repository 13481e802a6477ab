import { sha256 } from '../../core/sha256.js';
import type { Failpoints } from '../../ledger/failpoints.js';
import { logHalted } from '../../ledger/halted/log-halted.js';
import { insertIntake, intakeRow } from '../../ledger/intake-store.js';
import type { LogRef } from '../../ledger/log.js';
import type { ReceiptWatch } from '../../ledger/receipt-watch.js';
import { insertMissingStatements } from '../../ledger/statement-store.js';
import type { Clock } from '../../platform/clock.js';
import type { Ids } from '../../platform/ids.js';
import type { Database } from '../../platform/postgres/database.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import { examineStatement } from '../examine-statement.js';
import { resolveKey } from '../resolve-key.js';
import type { TrustAnchor } from '../trust-anchor.js';
import { findPayloadHashEntry, takePayloadHashRegistration } from './payload-hash-store.js';

export interface PayloadHashDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: LogRef;
  readonly pinned: readonly TrustAnchor[];
  readonly reservedIssuers: readonly string[];
  readonly receipts: ReceiptWatch;
  readonly failpoints: Failpoints;
  /** Whether a log is halted: what it could never commit is refused. */
  readonly halted: (logId: string) => boolean;
  /** Counts a request from this address. @throws {ApiError} rate_limited */
  admit(address: string): Promise<void>;
  /** Tells the sequencer that an entry waits for the log. */
  nudge(log: LogRef): void;
}

/**
 * Registers a statement of a pinned issuer under the SHA-256 of its payload, which this log commits to instead of the
 * statement (docs/design/interface.md#existing-clients). Resolves with the entry's id; for a repeated statement, with
 * that of the first entry.
 * @throws {StatementRefused}
 */
export async function registerPayloadHash(deps: PayloadHashDeps, submitted: Uint8Array): Promise<string> {
  const { log } = deps;
  const { tenantId } = log;
  if (deps.halted(log.logId)) throw logHalted();
  const examined = examineStatement(submitted);
  await resolveKey(examined, {
    issuerKeys: deps.pinned.filter(({ issuer }) => issuer === examined.issuer),
    authorities: [],
    selfAsserted: false,
    reserved: deps.reservedIssuers,
    nowMs: deps.clock.now(),
  });
  const entryId = deps.ids.uuid();
  const registration = { tenantId, statementHash: examined.hash, entryId, submitted };
  await deps.failpoints.reach('register.before');
  const registered = await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    const registeredAt = new Date(deps.clock.now());
    if (!(await takePayloadHashRegistration(tx, { ...registration, registeredAt })))
      return (await findPayloadHashEntry(tx, tenantId, examined.hash))!;
    const entry = sha256(examined.payload);
    await executeAll(tx, insertMissingStatements([{ tenantId, eventId: entryId, entry }]));
    await executeAll(
      tx,
      insertIntake([
        intakeRow(log, { entryId, entryKind: 'statement', entryTenantId: tenantId, entryLength: entry.length }),
      ]),
    );
    return entryId;
  });
  await deps.failpoints.reach('register.after');
  deps.nudge(log);
  return registered;
}
