import { type LogFork, MOST_REASON, signForkStatement } from '../../core/fork/fork-statement.js';
import { firstName, generationName } from '../../core/fork/log-generation.js';
import { rfc9162Root } from '../../core/rfc9162/rfc9162-root.js';
import { recordSecurityEvent } from '../../iam/security/record-security-event.js';
import { OPERATOR } from '../../iam/security/security-event.js';
import type { LogExplanation } from '../../ledger/halted/explain-log.js';
import { beginGeneration } from '../../ledger/halted/halted-log-store.js';
import { insertIntake, intakeRow } from '../../ledger/intake-store.js';
import type { LogState } from '../../ledger/log.js';
import { logRole } from '../../ledger/log-keys.js';
import { forkObjectKey } from '../../ledger/seal-object.js';
import type { SealRow } from '../../ledger/seal-store.js';
import { insertMissingStatements } from '../../ledger/statement-store.js';
import { ApiError } from '../../platform/errors.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import { keysLog } from '../deployment.js';
import { logKind } from '../log-kind.js';
import { knownSeal } from './known-seal.js';
import { type ExplainedLog, examineLog, type LogOperatorDeps, logChanged, showLog } from './manage-logs.js';

/** What the operator says about a fork. */
interface ForkRequest {
  /** The name of the log, typed by a person. */
  readonly confirm: string;
  /** Published for ever in the first entry of the new log. */
  readonly reason: string;
}

/** An entry id of a time before every other one: what waits for a log is taken in the order of ids. */
const FIRST_ID_PREFIX = '00000000-2710-7000-8000-';

/**
 * Continues a halted log openly as the next generation of its name, because the database that is newer was lost. The new log
 * shares the entries that this database has; its first entry of its own is a signed statement that names the old log, its last
 * seal and the reason. The object store has the statement first, create-only: a crash after it leaves an unused generation,
 * and the next fork takes the one after it.
 * @throws {ApiError} not_found; bad_request if the confirmation is not the log's name; conflict if the log is not halted, if
 * the database is not older than what was published, if it is of another history, or if the keys log is concerned
 */
export async function forkLog(deps: LogOperatorDeps, logId: string, request: ForkRequest): Promise<ExplainedLog> {
  const { objectStore, logger } = deps;
  const { log, explanation } = await examineLog(deps, logId);
  checkRequest(log, request);
  checkForkable(deps, log, explanation);
  const seal = await knownSeal(deps, log);
  const generation = explanation.newestGeneration + 1;
  const fork = forkOf(log, seal, explanation, { generation, reason: request.reason, nowMs: deps.clock.now() });
  const statement = await signForkStatement(fork, deps.keyring.signer(logRole(log)), deps.receiptIssuer);
  if ((await objectStore.putNew(forkObjectKey(logId, generation), statement)) === 'different')
    throw new ApiError(
      'conflict',
      'Another fork of this log has begun. Run "vcon-archivist logs" before you try again.',
    );
  await storeFork(deps, log, fork, statement, generation);
  logger.warn(
    { tenantId: log.tenantId, logId, name: fork.log, reason: fork.reason },
    'the operator has forked a log openly',
  );
  await deps.halted.refresh();
  deps.nudge(log);
  return showLog(deps, logId);
}

function checkRequest(log: LogState, { confirm, reason }: ForkRequest): void {
  if (confirm !== log.name)
    throw new ApiError('bad_request', `confirm: type the name of the log, which is ${log.name}.`);
  if (reason.trim() === '' || reason.length > MOST_REASON)
    throw new ApiError('bad_request', `reason: say in 1 to ${MOST_REASON} characters why the newer database is lost.`);
}

function checkForkable(deps: LogOperatorDeps, log: LogState, { finding, objects }: LogExplanation): void {
  if (log.halted === null) throw new ApiError('conflict', 'This log is not halted: it needs no fork.');
  // Which keys are in force is known only from a keys log that is as new as what was published.
  if (logKind(deps.deployment, log) === 'key manifests' || deps.halted.has(keysLog(deps.deployment).logId))
    throw new ApiError(
      'conflict',
      'The keys log is halted: this database does not know the newest keys, so that nothing can be forked. Run "vcon-archivist logs resume" for the keys log first: its entries are brought back from the object store. See docs/operate/halted-log.md.',
    );
  if (finding !== 'database_older' || !objects)
    throw new ApiError(
      'conflict',
      'The database is not older than what was published: a fork would not help. See docs/operate/halted-log.md.',
    );
}

function forkOf(
  log: LogState,
  seal: SealRow | undefined,
  { objects }: LogExplanation,
  { generation, reason, nowMs }: { readonly generation: number; readonly reason: string; readonly nowMs: number },
): LogFork {
  const { name, number, leaves, bytes } = objects!;
  if (leaves === undefined)
    throw new ApiError('conflict', `Seal ${number} in the object store cannot be read: restore it first.`);
  return {
    log: generationName({ base: firstName(log.name), generation }),
    continues: log.name,
    sealNumber: log.sealNumber,
    leaves: log.leaves,
    root: seal?.root ?? rfc9162Root([]),
    last: { log: name, number, leaves, seal: bytes },
    reason,
    forkedAtMs: nowMs,
  };
}

async function storeFork(
  deps: LogOperatorDeps,
  log: LogState,
  fork: LogFork,
  statement: Uint8Array,
  generation: number,
): Promise<void> {
  const { tenantId, logId } = log;
  const entryId = `${FIRST_ID_PREFIX}${deps.ids.uuid().slice(-12)}`;
  await deps.database.inTransaction('system', async (tx) => {
    const begun = await beginGeneration(tx, log, {
      generation,
      sealNumber: log.sealNumber,
      leaves: log.leaves,
      entryId,
    });
    if (!begun) throw logChanged();
    await executeAll(tx, insertMissingStatements([{ tenantId, eventId: entryId, entry: statement }]));
    await executeAll(
      tx,
      insertIntake([
        intakeRow(log, { entryId, entryKind: 'statement', entryTenantId: tenantId, entryLength: statement.length }),
      ]),
    );
    if (logKind(deps.deployment, log) !== 'tenancy') return;
    await recordSecurityEvent(tx, deps, {
      tenantId,
      actor: OPERATOR,
      action: 'log.fork',
      resource: `logs/${logId}`,
      details: { log: fork.log, continues: fork.continues, reason: fork.reason },
    });
  });
}
