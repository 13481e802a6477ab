import { type Deployment, keysLog, statementLog } from '../archivist/deployment.js';
import { checkpointNote, publishedState } from '../ledger/checkpoint-note.js';
import { settleCheckpoint, shownCheckpoint } from '../ledger/witnesses/shown-checkpoint.js';
import type { Clock } from '../platform/clock.js';
import type { Config } from '../platform/config.js';
import type { Ids } from '../platform/ids.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import type { Logger } from '../platform/logger.js';
import type { Metrics } from '../platform/metrics.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import type { FollowedLog, TlogDeps } from '../scitt/tlog-routes.js';
import type { ScheduledJob } from '../workers/scheduled-job.js';
import { startWitnessJob } from '../workers/witness-job.js';

interface WitnessParts {
  readonly database: Database;
  readonly queues: QueueBackend;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly outside: OutsideCalls;
  readonly keyring: Keyring;
  readonly deployment: Deployment;
  nudge(tenantId: string, logId: string): void;
}

/** The statement logs that everybody may follow. */
export function followedLogs(deployment: Deployment): FollowedLog[] {
  return [
    { ...statementLog(deployment, true), kind: 'public' },
    { ...statementLog(deployment, false), kind: 'private' },
    { ...keysLog(deployment), kind: 'keys' },
  ];
}

/**
 * With witnesses, the public log and the keys log publish only checkpoints that the witnesses have cosigned, and never
 * an older one than before.
 */
export async function cosignedCheckpoints(
  { witnesses }: Config,
  { database, keyring, deployment }: Pick<WitnessParts, 'database' | 'keyring' | 'deployment'>,
): Promise<TlogDeps['cosignedCheckpoint']> {
  const cosigned = [statementLog(deployment, true), keysLog(deployment)];
  const witnessed = witnesses.length > 0;
  for (const log of cosigned)
    await settleCheckpoint(database, log, {
      witnessed,
      plain: async (tx) => checkpointNote((await publishedState(tx, log))!, keyring.noteSigners()),
    });
  return async (log) =>
    witnessed && cosigned.some(({ logId }) => logId === log.logId) ? shownCheckpoint(database, log) : undefined;
}

/** Requests cosignatures in the roles that keep the logs; undefined without configured witnesses. */
export async function runWitnesses(config: Config, parts: WitnessParts): Promise<ScheduledJob | undefined> {
  if (config.witnesses.length === 0 || (config.role !== 'all' && config.role !== 'ledger')) return undefined;
  const witnessed = (): void => parts.metrics.witnessed(parts.clock.now());
  // A service that has never been witnessed counts from its start.
  witnessed();
  return startWitnessJob({
    ...parts,
    witnessed: (complete) => {
      if (complete) witnessed();
      parts.outside.report('witness', complete ? undefined : new Error('no quorum of the witnesses cosigned'));
    },
    backend: parts.queues,
    witnesses: config.witnesses,
    quorum: config.witnessQuorum,
    everySeconds: config.witnessSeconds,
    verifySignature: nodeVerify,
    noteSigners: () => parts.keyring.noteSigners(),
    publicLog: statementLog(parts.deployment, true),
    keysLog: keysLog(parts.deployment),
  });
}
