import { recordSecurityEvent } from '../../iam/security/record-security-event.js';
import { OPERATOR } from '../../iam/security/security-event.js';
import { explainLog, type Finding, type LogExplanation, type SealPlace } from '../../ledger/halted/explain-log.js';
import { clearHalt, findLogById, logsAfter } from '../../ledger/halted/halted-log-store.js';
import type { HaltedLogs } from '../../ledger/halted/watch-halted-logs.js';
import type { LogRef, LogState } from '../../ledger/log.js';
import { publishedSeals } from '../../ledger/seal-store.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Ids } from '../../platform/ids.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import type { Logger } from '../../platform/logger.js';
import type { ObjectStore } from '../../platform/object-store.js';
import type { Database } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import { logKind } from '../log-kind.js';
import { type RecoverKeysDeps, recoverKeysLog } from './recover-keys-log.js';

export interface LogOperatorDeps {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly deployment: Deployment;
  readonly halted: HaltedLogs;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly keyring: Pick<Keyring, 'signer' | 'chain' | 'everyKey'>;
  /** Claim 1 of what the logs sign. */
  readonly receiptIssuer: string;
  /** The key manifests, of which a restored database may have lost some. */
  readonly keys: Pick<RecoverKeysDeps, 'manifests' | 'adoptNow' | 'recertify'>;
  nudge(log: LogRef): void;
}

/**
 * The reasons that end when the right objects are back (seal-object.ts). No other halt is lifted: a restored copy may be
 * older than what was published although nothing here shows it, and a newer or sound database is not halted anyway.
 */
const OBJECTS_AT_FAULT = /^(published seal \d+ is not in the object store|the object store has another seal \d+ )/;

/** The operator's view of a log: its place and its state, without its content. */
export interface LogRecord {
  readonly identity: string;
  /** Its name in receipts and checkpoints, which a person types to fork it. */
  readonly name: string;
  readonly tenancy: string;
  readonly kind: string;
  readonly leaves: number;
  readonly seal_number: number;
  /** Why the log is halted; empty if it is not. */
  readonly halted: string;
}

/** A seal in a record; `leaves` is -1 if the seal cannot be read. */
interface SealRecord {
  /** Of the log, in this seal. */
  readonly log: string;
  readonly number: number;
  readonly leaves: number;
}

/** A log with the evidence about its last seal. */
export interface ExplainedLog extends LogRecord {
  readonly finding: Finding;
  readonly database_seal: SealRecord;
  readonly object_store_seal: SealRecord;
}

/** All logs of the deployment in the order of their ids, after the one with this id. */
export async function listLogs(deps: LogOperatorDeps, after: string, limit: number): Promise<LogRecord[]> {
  const logs = await deps.database.inTransaction('system', (tx) => logsAfter(tx, after, limit));
  return logs.map((log) => logRecord(deps, log));
}

/** One log with its evidence. @throws {ApiError} not_found */
export async function showLog(deps: LogOperatorDeps, logId: string): Promise<ExplainedLog> {
  const { log, explanation } = await examineLog(deps, logId);
  const { finding, database, objects } = explanation;
  return {
    ...logRecord(deps, log),
    finding,
    database_seal: sealRecord(database),
    object_store_seal: sealRecord(objects ?? { name: log.name, number: 0n, leaves: 0n }),
  };
}

/** Brings back what the keys log has lost. Returns false if it has lost nothing, or for another log. */
async function recovered(deps: LogOperatorDeps, log: LogState, explanation: LogExplanation): Promise<boolean> {
  if (logKind(deps.deployment, log) !== 'key manifests') return false;
  if (log.halted !== null && explanation.finding !== 'database_older') return false;
  const manifests = await recoverKeysLog({ ...deps, ...deps.keys }, log, explanation);
  return manifests > 0 || log.halted !== null;
}

async function nowRunning(deps: LogOperatorDeps, log: LogState): Promise<ExplainedLog> {
  await deps.halted.refresh();
  deps.nudge(log);
  return showLog(deps, log.logId);
}

/**
 * Lets the sequencer take a log again that was halted because of the object store, if both agree about its last seal. The next
 * round checks everything that it builds on, as every round does, and halts the log again if it finds a contradiction. What
 * the keys log has lost is brought back first.
 * @throws {ApiError} not_found; conflict if the log is not halted, or if database and object store disagree, or if another
 *   request has changed the log meanwhile
 */
export async function resumeLog(deps: LogOperatorDeps, logId: string): Promise<ExplainedLog> {
  const { log, explanation } = await examineLog(deps, logId);
  if (await recovered(deps, log, explanation)) return nowRunning(deps, log);
  if (log.halted === null) throw new ApiError('conflict', 'This log is not halted.');
  if (!OBJECTS_AT_FAULT.test(log.halted))
    throw new ApiError(
      'conflict',
      'This log was not halted because of the object store: restore another copy of the database. See docs/operate/halted-log.md.',
    );
  if (explanation.finding !== 'consistent')
    throw new ApiError(
      'conflict',
      'The database and the object store still disagree about this log: see docs/operate/halted-log.md.',
    );
  await deps.database.inTransaction('system', async (tx) => {
    if (!(await clearHalt(tx, log))) throw logChanged();
    if (logKind(deps.deployment, log) === 'tenancy')
      await recordSecurityEvent(tx, deps, {
        tenantId: log.tenantId,
        actor: OPERATOR,
        action: 'log.resume',
        resource: `logs/${logId}`,
        details: { halted: log.halted! },
      });
  });
  deps.logger.warn({ tenantId: log.tenantId, logId, reason: log.halted }, 'the operator has resumed a halted log');
  return nowRunning(deps, log);
}

/** Another request has resumed or forked the log, and it may be halted again for another reason. */
export function logChanged(): ApiError {
  return new ApiError(
    'conflict',
    'The log has changed since the request began. Run "vcon-archivist logs" before you try again.',
  );
}

/** A log, and what database and object store say about its last seal. @throws {ApiError} not_found */
export async function examineLog(
  { database, objectStore }: Pick<LogOperatorDeps, 'database' | 'objectStore'>,
  logId: string,
): Promise<{ log: LogState; explanation: LogExplanation }> {
  const found = await database.inTransaction('system', async (tx) => {
    const log = await findLogById(tx, logId);
    return log && (await publishedSeals(tx, [log]))[0];
  });
  if (!found) throw new ApiError('not_found', 'There is no such log.');
  const { log, seal } = found;
  return { log, explanation: await explainLog(objectStore, log, seal) };
}

function logRecord({ deployment }: LogOperatorDeps, log: LogState): LogRecord {
  return {
    identity: `logs/${log.logId}`,
    name: log.name,
    tenancy: `tenancies/${log.tenantId}`,
    kind: logKind(deployment, log),
    leaves: Number(log.leaves),
    seal_number: Number(log.sealNumber),
    halted: log.halted ?? '',
  };
}

const sealRecord = ({ name, number, leaves }: SealPlace): SealRecord => ({
  log: name,
  number: Number(number),
  leaves: leaves === undefined ? -1 : Number(leaves),
});
