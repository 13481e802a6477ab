import { type Deployment, keysLog, statementLog } from '../archivist/deployment.js';
import type { LogRef } from '../ledger/log.js';
import { ownCheckpoints, settleCheckpoint, shownCheckpoint } from '../ledger/witnesses/shown-checkpoint.js';
import type { WitnessConfig } from '../ledger/witnesses/witness-config.js';
import { startWitnessJob } from '../ledger/witnesses/witness-job.js';
import type { Clock } from '../platform/clock.js';
import { type Feature, type Role, servesInterface } from '../platform/feature.js';
import type { Ids } from '../platform/ids.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import type { Logger } from '../platform/logger.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import type { Database } from '../platform/postgres/database.js';
import { PublicFailure } from '../platform/public-reason.js';
import type { QueueBackend } from '../platform/queue/queue-backend.js';
import type { ScheduledJob } from '../platform/queue/scheduled-job.js';
import type { FollowedLog, TlogDeps } from '../scitt/tlog-routes.js';
import type { Metrics } from './metrics.js';

interface WitnessParts {
  readonly database: Database;
  readonly backend: QueueBackend;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'witnessed' | 'witnessFailed'>;
  readonly outside: OutsideCalls;
  readonly keyring: Keyring;
  readonly deployment: Deployment;
  nudge(log: LogRef): void;
}

/** The statement logs that everybody may follow, and the checkpoints of those that witnesses cosign. */
export async function cosignedLogs(
  base: Pick<WitnessParts, 'database' | 'keyring' | 'deployment'>,
  { role, witnessing }: { readonly role: Role; readonly witnessing: WitnessConfig },
): Promise<Pick<TlogDeps, 'logs' | 'cosignedCheckpoint'>> {
  return {
    logs: followedLogs(witnessing, base.deployment),
    cosignedCheckpoint: servesInterface({ role }) ? await cosignedCheckpoints(witnessing, base) : async () => undefined,
  };
}

/** With the witnesses of each. */
function followedLogs({ witnesses }: WitnessConfig, deployment: Deployment): FollowedLog[] {
  const keys = witnesses.map(({ key }) => key);
  return [
    { ...statementLog(deployment, true), kind: 'public', witnesses: keys },
    { ...statementLog(deployment, false), kind: 'private', witnesses: [] },
    { ...keysLog(deployment), kind: 'keys', witnesses: keys },
  ];
}

/**
 * With witnesses, the public log and the keys log publish only checkpoints that the witnesses have cosigned, and never
 * an older one than before.
 */
async function cosignedCheckpoints(
  { witnesses }: WitnessConfig,
  { database, keyring, deployment }: Pick<WitnessParts, 'database' | 'keyring' | 'deployment'>,
): Promise<TlogDeps['cosignedCheckpoint']> {
  const cosigned = [statementLog(deployment, true), keysLog(deployment)];
  const publishing = (log: LogRef) => ({ witnessed: witnesses.length > 0, ...ownCheckpoints(keyring, log) });
  for (const log of cosigned) await settleCheckpoint(database, log, publishing(log));
  return async (log) =>
    cosigned.some(({ logId }) => logId === log.logId) ? shownCheckpoint(database, log, publishing(log)) : undefined;
}

/** Requests cosignatures of what is published, if there are witnesses. */
export function openWitnessing(base: WitnessParts, settings: WitnessConfig): Feature {
  if (settings.witnesses.length === 0) return {};
  const witnessed = (): void => base.metrics.witnessed(base.clock.now());
  const start = (): Promise<ScheduledJob> => {
    // A service that has never been witnessed counts from its start.
    witnessed();
    return startWitnessJob({
      ...base,
      ...settings,
      witnessFailed: base.metrics.witnessFailed,
      nudge: (tenantId, logId) => base.nudge({ tenantId, logId }),
      witnessed: (complete) => {
        if (complete) witnessed();
        base.outside.report(
          'witness',
          complete
            ? undefined
            : new PublicFailure('too few witnesses cosigned: the published checkpoint does not advance'),
        );
      },
      verifySignature: nodeVerify,
      publicLog: statementLog(base.deployment, true),
      keysLog: keysLog(base.deployment),
    });
  };
  return { jobs: [{ roles: ['all', 'ledger'], start }] };
}
