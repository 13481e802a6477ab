import { insertKeyManifest, type KeyManifestRow } from '../../platform/keys/manifest/key-manifest-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import { insertIntake, intakeRow } from '../intake-store.js';
import type { LogRef } from '../log.js';
import { insertMissingStatements } from '../statement-store.js';

/**
 * Stores a manifest and queues it for the keys log. The entries of that log are manifests in the order of their
 * numbers: the next manifest is created only after this one is stored, and entry ids rise. Returns false, and stores
 * nothing, if its number is taken.
 */
export async function enterKeyManifest(tx: Tx, keysLog: LogRef, row: KeyManifestRow): Promise<boolean> {
  const { tenantId } = keysLog;
  if (!(await insertKeyManifest(tx, tenantId, row))) return false;
  await executeAll(tx, insertMissingStatements([{ tenantId, eventId: row.entryId, entry: row.manifest }]));
  const { entryId, manifest } = row;
  await executeAll(
    tx,
    insertIntake([
      intakeRow(keysLog, { entryId, entryKind: 'statement', entryTenantId: tenantId, entryLength: manifest.length }),
    ]),
  );
  return true;
}
