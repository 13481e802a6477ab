import type { Failpoints } from '../../ledger/failpoints.js';
import { retryLater } from '../../platform/errors.js';
import type { Database } from '../../platform/postgres/database.js';
import { type AcceptDeps, acceptBatch, type Outcome } from './accept-batch.js';
import type { Accepted, Submission } from './submission.js';

export interface AcceptWriterDeps extends AcceptDeps {
  readonly database: Database;
  readonly failpoints: Failpoints;
  readonly metrics: AcceptMetrics;
  /** Called after the commit for each log that has something to do. Must not throw. */
  nudge(tenantId: string, logId: string): void;
}

/** Where accepts are counted, after their commit. */
export interface AcceptMetrics {
  accepted(kind: Accepted['kind']): void;
  /** How many requests one transaction answered. */
  batchAccepted(size: number): void;
}

/** The one way in for creates. From the moment `accept` resolves, PostgreSQL holds the rows. */
export interface AcceptWriter {
  accept(submission: Submission): Promise<Accepted>;
  /** Resolves when everything handed in so far is decided. */
  drain(): Promise<void>;
}

const MAX_BATCH = 200;
const MAX_WAITING = 5_000;

interface Waiting {
  readonly submission: Submission;
  settle(outcome: Outcome): void;
  fail(error: unknown): void;
}

/**
 * Collects submissions while earlier transactions run, or for one turn of the event loop when none does, and writes
 * them together: one commit for many requests. A batch that the data of one row can have spoilt is tried again one by one,
 * so that only the submission that cannot be written fails.
 */
export function createAcceptWriter(deps: AcceptWriterDeps): AcceptWriter {
  const waiting: Waiting[] = [];
  // One transaction at a time: measured, two at once only made batches smaller and posts dearer.
  let running: Promise<void> | undefined;

  async function writeOrSplit(batch: readonly Waiting[]): Promise<void> {
    try {
      await writeBatch(deps, batch);
    } catch (error) {
      if (batch.length === 1 || !mayBeOneRow(error)) {
        for (const each of batch) each.fail(error);
        return;
      }
      for (const each of batch) await writeOrSplit([each]);
    }
  }

  /** One turn of the event loop lets what arrives together be written together. */
  async function run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await writeOrSplit(waiting.splice(0, MAX_BATCH));
    // In the same breath as the look above: a submission that comes now starts a run of its own.
    running = undefined;
  }

  return {
    accept(submission) {
      if (waiting.length >= MAX_WAITING) throw retryLater('unavailable', 'Too many writes are waiting.', 1);
      return new Promise<Accepted>((resolve, reject) => {
        const settle = (outcome: Outcome) =>
          'accepted' in outcome ? resolve(outcome.accepted) : reject(outcome.refused);
        waiting.push({ submission, settle, fail: reject });
        running ??= run();
      });
    },
    async drain() {
      while (running) await running;
    },
  };
}

/** One transaction; its waiters are told only after the commit. */
async function writeBatch(deps: AcceptWriterDeps, batch: readonly Waiting[]): Promise<void> {
  const { deployment } = deps;
  const tenants = new Set(batch.map(({ submission }) => submission.principal.tenantId));
  const scope = [...tenants, deployment.publicTenancy, deployment.deploymentTenancy];
  await deps.failpoints.reach('accept.before');
  const result = await deps.database.inTransaction({ read: scope, write: scope }, (tx) =>
    acceptBatch(
      tx,
      deps,
      batch.map(({ submission }) => submission),
    ),
  );
  await deps.failpoints.reach('accept.after');
  batch.forEach((each, index) => {
    const outcome = result.outcomes[index]!;
    if ('accepted' in outcome) deps.metrics.accepted(outcome.accepted.kind);
    each.settle(outcome);
  });
  deps.metrics.batchAccepted(batch.length);
  for (const log of result.logs) deps.nudge(log.tenantId, log.logId);
}

/** True for an error that a single row can cause: data and constraint errors, or a fault in our own planning. */
function mayBeOneRow(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return /^(2[23]|54|P0)/.test(code);
  return error instanceof TypeError || error instanceof RangeError;
}
