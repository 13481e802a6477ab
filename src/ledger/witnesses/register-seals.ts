import type { Ids } from '../../platform/ids.js';
import type { Database } from '../../platform/postgres/database.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import { insertIntake, intakeRow } from '../intake-store.js';
import type { LogRef } from '../log.js';
import { insertMissingStatements } from '../statement-store.js';
import { insertRegisteredSeals, unregisteredSeals } from './witness-store.js';

const BATCH = 500;

/**
 * Registers the newest published seal of each MMR log as an entry of the public statement log, so that witnesses of
 * that one log cover all logs. The transaction includes the intake, so a seal is registered once despite crashes and
 * concurrent processes. Resolves with the number of registered seals.
 */
export async function registerSeals(
  { database, ids }: { readonly database: Database; readonly ids: Ids },
  publicLog: LogRef,
): Promise<number> {
  return database.inTransaction('system', async (tx) => {
    const seals = (await unregisteredSeals(tx, BATCH)).map((seal) => ({ seal, entryId: ids.uuid() }));
    if (seals.length === 0) return 0;
    const ours = await insertRegisteredSeals(tx, seals);
    const registered = seals.filter(({ entryId }) => ours.has(entryId));
    await executeAll(
      tx,
      insertMissingStatements(
        registered.map(({ seal, entryId }) => ({
          tenantId: publicLog.tenantId,
          eventId: entryId,
          entry: seal.signed,
        })),
      ),
    );
    await executeAll(
      tx,
      insertIntake(
        registered.map(({ seal, entryId }) =>
          intakeRow(publicLog, {
            entryId,
            entryKind: 'statement',
            entryTenantId: publicLog.tenantId,
            entryLength: seal.signed.length,
          }),
        ),
      ),
    );
    return registered.length;
  });
}
