import { firstName } from '../../core/fork/log-generation.js';
import type { ManifestLog } from '../../core/keys/key-manifest.js';
import { publishedState } from '../../ledger/checkpoint-note.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type Deployment, keysLog, statementLog } from '../deployment.js';

/**
 * The statement logs of a deployment and their published states, as a manifest names them. A log that was forked openly keeps
 * its first name there.
 */
export async function manifestLogs(tx: Tx, deployment: Deployment): Promise<ManifestLog[]> {
  const kinds = [
    { kind: 'public_statement', log: statementLog(deployment, true) },
    { kind: 'private_statement', log: statementLog(deployment, false) },
    { kind: 'keys', log: keysLog(deployment) },
  ] as const;
  const logs: ManifestLog[] = [];
  for (const { kind, log } of kinds) {
    const state = await publishedState(tx, log);
    if (!state) throw new TypeError(`statement log ${log.logId} is not there`);
    const { origin, size, root } = state;
    logs.push({ name: firstName(origin), kind, size, root, firstSize: size });
  }
  return logs;
}
