import { AuditStopped } from '../../ledger/audit/audit-context.js';
import type { DeploymentAudit } from './deployment-audit.js';
import { lastMigration, schemaParts } from './schema-audit-store.js';
import { LAST_MIGRATION, SCHEMA_PARTS } from './schema-parts.js';

/**
 * Compares the functions, triggers, rules and policies of the database, which it runs by itself, with those that the
 * migrations create.
 * @throws {AuditStopped} if a newer version has migrated the database: only that version knows what its migrations create
 */
export async function auditSchema({ database, fault }: DeploymentAudit): Promise<void> {
  const [found, last = ''] = await database.inTransaction('system', async (tx) => [
    await schemaParts(tx),
    await lastMigration(tx),
  ]);
  if (last > LAST_MIGRATION)
    throw new AuditStopped(
      `stopped at the schema: a newer version of vcon-archivist has migrated the database (${last})`,
    );
  const expected: Readonly<Record<string, string>> = SCHEMA_PARTS;
  for (const { name, digest } of found)
    if (expected[name] === undefined) fault('schema', `${name}: the migrations do not create it`);
    else if (expected[name] !== digest) fault('schema', `${name}: it differs from what the migrations create`);
  const names = new Set(found.map(({ name }) => name));
  for (const name of Object.keys(expected)) if (!names.has(name)) fault('schema', `${name}: it is missing`);
}
