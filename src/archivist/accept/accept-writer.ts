import type { Failpoints } from '../../ledger/failpoints.js';
import type { LogRef } from '../../ledger/log.js';
import type { StoredStatement } from '../../ledger/statement-store.js';
import type { Database } from '../../platform/postgres/database.js';
import { KEPT_PLANS } from '../../platform/postgres/kept-plans.js';
import { type AcceptDeps, acceptBatch } from './accept-batch.js';
import type { AwaitedStatements } from './awaited-statements.js';
import { createExpectedSubmissions, type ExpectedSubmissions } from './expected-submissions.js';
import { ClaimedBefore } from './settle-claims.js';
import type { Accepted, Outcome, Settled, Submission } from './submission.js';
import { createWaitingGroups, MAX_BATCH } from './waiting-groups.js';

export interface AcceptWriterDeps extends AcceptDeps {
  readonly database: Database;
  readonly failpoints: Failpoints;
  readonly metrics: AcceptMetrics;
  /** How long a batch waits at most for submissions that are announced; 10 ms unless told. */
  readonly mostGatherMs?: number;
  /** Refuses every submission by throwing while the logs are too far behind. */
  admit(): void;
  /** Called after the commit for each log that has work to do, with how many entries began to wait. Must not throw. */
  nudge(log: LogRef, entries: number): void;
  /**
   * Called instead of `nudge`, and before the commit, for a log whose new statements callers wait for. Must not throw.
   * @returns to be called with whether they were committed
   */
  prepare(log: LogRef, statements: readonly StoredStatement[]): (committed: boolean) => void;
}

type BatchDeps = AcceptWriterDeps & {
  /** Whether keys and statements are taken to be new: all of the last batch were. Who repeats one repeats many. */
  readonly guess: { isNew: boolean };
};

/** Counts accepts, after their commit. */
interface AcceptMetrics {
  accepted(kind: Accepted['kind']): void;
  /** The number of requests that one transaction answered. */
  batchAccepted(size: number): void;
}

/** The only write path for creates. When a promise resolves, PostgreSQL has committed the rows of what was accepted. */
export interface AcceptWriter extends Pick<ExpectedSubmissions, 'expect'> {
  accept(submission: Submission): Promise<Accepted>;
  /**
   * Writes these in one transaction, unless one of their rows makes it fail; outcomes are in the order of the
   * submissions.
   */
  acceptTogether(submissions: readonly Submission[]): Promise<Settled[]>;
  /** Resolves when everything submitted so far has an outcome. */
  drain(): Promise<void>;
}

/** About as long as it takes to check the signatures of sixty statements. */
const MOST_GATHER_MS = 10;
/** Most concurrent transactions, where the database allows more than one. */
const MAX_RUNS = 2;

/**
 * Collects submissions while earlier transactions run, or for one turn of the event loop when none is running, and
 * writes them together: one commit for many requests. A batch waits a little for those that are announced: the first of
 * many registrations whose signatures are checked at the same time would otherwise take a transaction, and then a round
 * of its log, for themselves, and the others would wait for both.
 * If the data of one row makes a batch fail, the batch is split in halves and retried, down to that row. Only the
 * submission that cannot be written fails.
 */
export function createAcceptWriter(deps: AcceptWriterDeps): AcceptWriter {
  const waiting = createWaitingGroups();
  const expected = createExpectedSubmissions(deps.mostGatherMs ?? MOST_GATHER_MS);
  const runs = new Set<Promise<void>>();
  const guess = { isNew: true };
  const mostRuns = Math.min(MAX_RUNS, deps.database.connections);

  /**
   * A second transaction starts only for a whole batch: in measurements, small ones only made batches smaller and
   * dearer.
   */
  const enoughWaits = (others: number): boolean => waiting.size >= (others > 0 ? MAX_BATCH : 1);

  function startRun(): void {
    if (runs.size >= mostRuns || !enoughWaits(runs.size)) return;
    const run: Promise<void> = writeWaiting(() => {
      const goesOn = enoughWaits(runs.size - 1);
      // No await between this check and the count: a submission that arrives now starts a run of its own.
      if (!goesOn) runs.delete(run);
      return goesOn;
    });
    runs.add(run);
  }

  /** Waits for one turn of the event loop, so that requests that arrive together are written together. */
  async function writeWaiting(goesOn: () => boolean): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (goesOn()) {
      if (waiting.size < MAX_BATCH) await expected.arrived();
      const batch = waiting.nextBatch();
      // Another run may have taken all meanwhile.
      if (batch.length === 0) continue;
      const groups = batch.map(({ group }) => group);
      const outcomes = await writeOrSplit({ ...deps, guess }, groups);
      for (const { group, settle } of batch) settle(outcomes.splice(0, group.length));
    }
  }

  function acceptTogether(group: readonly Submission[]): Promise<Settled[]> {
    deps.admit();
    return new Promise((settle) => {
      waiting.add({ group, settle });
      startRun();
    });
  }

  return {
    expect: expected.expect,
    acceptTogether,
    async accept(submission) {
      const outcome = (await acceptTogether([submission]))[0]!;
      if ('accepted' in outcome) return outcome.accepted;
      throw 'refused' in outcome ? outcome.refused : outcome.failed;
    },
    async drain() {
      while (runs.size > 0) await Promise.all(runs);
    },
  };
}

/** The outcome of each submission of these groups, in their order. A group is split only when it fails by itself. */
async function writeOrSplit(deps: BatchDeps, groups: readonly (readonly Submission[])[]): Promise<Settled[]> {
  const submissions = groups.flat();
  try {
    return await writeBatch(deps, submissions);
  } catch (error) {
    if (submissions.length <= 1 || !mayBeOneRow(error)) return submissions.map(() => ({ failed: error }));
    const parts = groups.length > 1 ? halves(groups) : halves(submissions).map((half) => [half]);
    const settled: Settled[] = [];
    for (const part of parts) settled.push(...(await writeOrSplit(deps, part)));
    return settled;
  }
}

function halves<Member>(members: readonly Member[]): (readonly Member[])[] {
  const middle = members.length >> 1;
  return [members.slice(0, middle), members.slice(middle)];
}

/** One transaction. Its outcomes are reported only after the commit. */
async function writeBatch(deps: BatchDeps, batch: readonly Submission[]): Promise<Outcome[]> {
  const { deployment } = deps;
  const tenants = new Set(batch.map(({ principal }) => principal.tenantId));
  const scope = [...tenants, deployment.publicTenancy, deployment.deploymentTenancy];
  await deps.failpoints.reach('accept.before');
  const prepared = prepareLogs(deps);
  const write = (takesAsNew: boolean) =>
    deps.database.commitDecided({ read: scope, write: scope, settings: KEPT_PLANS }, async (tx) => {
      const decided = await acceptBatch(tx, deps, batch, takesAsNew);
      prepared.replace(decided.result.awaited);
      return decided;
    });
  const result = await write(deps.guess.isNew)
    .catch((error: unknown) => {
      if (error instanceof ClaimedBefore) return write(false);
      throw error;
    })
    .catch((error: unknown) => {
      prepared.ended(false);
      throw error;
    });
  deps.guess.isNew = !result.hasRepeats;
  prepared.ended(true);
  await deps.failpoints.reach('accept.after');
  for (const outcome of result.outcomes) if ('accepted' in outcome) deps.metrics.accepted(outcome.accepted.kind);
  deps.metrics.batchAccepted(batch.length);
  for (const log of result.logs) if (!prepared.has(log)) deps.nudge(log, log.entries);
  return result.outcomes;
}

/** The logs that prepare for the transaction of a batch. A repeated transaction writes other rows. */
function prepareLogs(deps: Pick<AcceptWriterDeps, 'prepare'>) {
  let logs = new Map<string, (committed: boolean) => void>();
  const ended = (committed: boolean): void => {
    for (const settle of logs.values()) settle(committed);
  };
  return {
    replace(awaited: readonly AwaitedStatements[]): void {
      ended(false);
      logs = new Map(awaited.map(({ log, statements }) => [log.logId, deps.prepare(log, statements)]));
    },
    ended,
    has: ({ logId }: LogRef): boolean => logs.has(logId),
  };
}

/** True for an error that a single row can cause: data and constraint errors, or a bug in our own planning. */
function mayBeOneRow(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return /^(2[23]|54|P0)/.test(code);
  return error instanceof TypeError || error instanceof RangeError;
}
