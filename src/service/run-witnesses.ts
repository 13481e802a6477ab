import { type Deployment, statementLog } from '../archivist/deployment.js';
import { newestCosigned } from '../ledger/witnesses/witness-store.js';
import type { Clock } from '../platform/clock.js';
import type { Config } from '../platform/config.js';
import type { Ids } from '../platform/ids.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import type { Logger } from '../platform/logger.js';
import type { Database } from '../platform/postgres/database.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import type { FollowedLog, TlogDeps } from '../scitt/tlog-routes.js';
import type { ScheduledJob } from '../workers/scheduled-job.js';
import { startWitnessJob } from '../workers/witness-job.js';

/** The statement logs that everybody may follow. */
export function followedLogs(deployment: Deployment): FollowedLog[] {
  return [
    { ...statementLog(deployment, true), kind: 'public' },
    { ...statementLog(deployment, false), kind: 'private' },
  ];
}

/** With witnesses, the public log shows what they have cosigned, and nothing newer. */
export function cosignedCheckpoints({ witnesses }: Config, database: Database): TlogDeps['cosignedCheckpoint'] {
  return async (log) => {
    if (witnesses.length === 0) return undefined;
    const read = { read: [log.tenantId], write: [] };
    return (await database.inTransaction(read, (tx) => newestCosigned(tx, log)))?.note;
  };
}

/** Asks witnesses in the roles that keep the logs; undefined where none are configured. */
export async function runWitnesses(
  config: Config,
  parts: {
    readonly database: Database;
    readonly queues: QueueBackend;
    readonly ids: Ids;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly keyring: Keyring;
    readonly deployment: Deployment;
    nudge(tenantId: string, logId: string): void;
  },
): Promise<ScheduledJob | undefined> {
  if (config.witnesses.length === 0 || (config.role !== 'all' && config.role !== 'ledger')) return undefined;
  return startWitnessJob({
    ...parts,
    backend: parts.queues,
    witnesses: config.witnesses,
    quorum: config.witnessQuorum,
    everySeconds: config.witnessSeconds,
    verifySignature: nodeVerify,
    noteSigner: () => parts.keyring.signer('note'),
    publicLog: statementLog(parts.deployment, true),
  });
}
