import type { DeploymentAudit } from './deployment-audit.js';
import { schemaParts } from './schema-audit-store.js';
import { SCHEMA_PARTS } from './schema-parts.js';

/** Compares what the database runs by itself (functions, triggers, rules, policies) with what the migrations make. */
export async function auditSchema({ database, fault }: DeploymentAudit): Promise<void> {
  const found = await database.inTransaction('system', schemaParts);
  const expected: Readonly<Record<string, string>> = SCHEMA_PARTS;
  for (const { name, digest } of found)
    if (expected[name] === undefined) fault('schema', `${name}: the migrations make none`);
    else if (expected[name] !== digest) fault('schema', `${name}: it is another one than the migrations make`);
  const names = new Set(found.map(({ name }) => name));
  for (const name of Object.keys(expected)) if (!names.has(name)) fault('schema', `${name}: it is gone`);
}
