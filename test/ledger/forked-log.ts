import type { Signer } from '../../src/core/cose/signature.js';
import { signForkStatement } from '../../src/core/fork/fork-statement.js';
import { auditLog } from '../../src/ledger/audit/audit-log.js';
import { createDeriveRange } from '../../src/ledger/audit/derive-range.js';
import { beginGeneration } from '../../src/ledger/halted/halted-log-store.js';
import { insertIntake } from '../../src/ledger/intake-store.js';
import type { LogRef, LogState } from '../../src/ledger/log.js';
import { logRole } from '../../src/ledger/log-keys.js';
import { findLog } from '../../src/ledger/log-store.js';
import { forkObjectKey, sealObjectKey } from '../../src/ledger/seal-object.js';
import { findSeal } from '../../src/ledger/seal-store.js';
import { insertMissingStatements } from '../../src/ledger/statement-store.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import type { LedgerRig } from './ledger-rig.js';
import type { Opened } from './test-engines.js';

/** Comes before the entries of a rig. */
export const FORK_ENTRY = '00000000-2710-7000-8000-000000000001';

export const stateOf = async (rig: LedgerRig, log: LogRef): Promise<LogState> =>
  (await rig.database.inTransaction('system', (tx) => findLog(tx, log)))!;

/** Begins the next generation of a log, as an operator does who has lost its newer seals. */
export async function fork(
  { asOwner }: Pick<Opened, 'asOwner'>,
  rig: LedgerRig,
  ref: LogRef,
  signer?: Signer,
): Promise<void> {
  await asOwner(`UPDATE archivist.log SET halted = 'older' WHERE log_id = $1`, [ref.logId]);
  const log = await stateOf(rig, ref);
  const seal = (await rig.database.inTransaction('system', (tx) => findSeal(tx, log, log.sealNumber)))!;
  const { name, sealNumber, leaves } = log;
  const bytes = (await rig.objectStore.get(sealObjectKey(log, sealNumber)))!;
  const last = { log: name, number: sealNumber, leaves, seal: bytes };
  const said = { log: `${name}.1`, continues: name, sealNumber, leaves, root: seal.root, last };
  const entry = await signForkStatement(
    { ...said, reason: 'lost', forkedAtMs: Date.now() },
    signer ?? rig.keyring.signer(logRole(log)),
    'a log',
  );
  await rig.objectStore.putNew(forkObjectKey(ref.logId, 1), entry);
  const waits = { entryKind: 'statement', entryTenantId: ref.tenantId, entryLength: entry.length } as const;
  await rig.database.inTransaction('system', async (tx) => {
    await beginGeneration(tx, log, { generation: 1, sealNumber, leaves, entryId: FORK_ENTRY });
    await executeAll(tx, insertMissingStatements([{ tenantId: ref.tenantId, eventId: FORK_ENTRY, entry }]));
    await executeAll(tx, insertIntake([{ ...ref, entryId: FORK_ENTRY, ...waits }]));
  });
}

/** What the audit finds in a log. */
export async function faultsOf(rig: LedgerRig, log: LogRef): Promise<string[]> {
  const faults: string[] = [];
  const { context } = rig.state;
  await auditLog(
    {
      ...context,
      derive: createDeriveRange({ ...context, issuerKeys: rig.keyring.jwks('issuer') }),
      rangesAhead: 1,
      rangeLeaves: 1024n,
      fault: (_, what) => void faults.push(what),
      progress: () => undefined,
    },
    log,
  );
  return faults;
}
