import { utf8 } from '../../src/core/bytes.js';
import type { ComingStatements } from '../../src/ledger/coming-statements.js';
import { insertNewIntake } from '../../src/ledger/intake-store.js';
import type { LogRef } from '../../src/ledger/log.js';
import { insertStatements, type StoredStatement } from '../../src/ledger/statement-store.js';
import { createIds } from '../../src/platform/ids.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import type { LedgerRig } from './ledger-rig.js';

const ids = createIds({ now: () => Date.now() });

/** A log that this process has left after one entry. */
export async function leftLog(rig: LedgerRig): Promise<{ log: LogRef; accepted: string[] }> {
  const log = await rig.newLog('RFC9162_SHA256');
  const accepted = await rig.accept(log, 'statement', 1);
  await rig.drain(log);
  rig.reached.length = 0;
  return { log, accepted };
}

/** Statements that are coming, and what ends their transaction. */
export function comingTo(rig: LedgerRig, log: LogRef, count = 1) {
  const statements = Array.from({ length: count }, (): StoredStatement => {
    const eventId = ids.uuid();
    return { tenantId: log.tenantId, eventId, entry: utf8(`the statement ${eventId}`) };
  });
  let settle: (committed: boolean) => void = () => {};
  const committed = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  return {
    coming: { statements, committed } satisfies ComingStatements,
    entryIds: statements.map(({ eventId }) => eventId),
    settle,
    commit: () =>
      rig.database.inTransaction('system', async (tx) => {
        await executeAll(tx, insertStatements(statements));
        const rows = statements.map(({ tenantId, eventId, entry }) => ({
          ...log,
          entryId: eventId,
          entryKind: 'statement' as const,
          entryTenantId: tenantId,
          entryLength: entry.length,
        }));
        await executeAll(tx, insertNewIntake(rows));
      }),
  };
}
