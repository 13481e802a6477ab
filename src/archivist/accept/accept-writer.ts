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

/** What became of one of the submissions that were handed in together; `failed` is a fault that is not the submission's. */
export type Settled = Outcome | { readonly failed: unknown };

/** The one way in for creates. From the moment a promise resolves, PostgreSQL holds the rows of what was accepted. */
export interface AcceptWriter {
  accept(submission: Submission): Promise<Accepted>;
  /** Writes these in one transaction, unless a row of them spoils it; answers in their order. */
  acceptTogether(submissions: readonly Submission[]): Promise<Settled[]>;
  /** Resolves when everything handed in so far is decided. */
  drain(): Promise<void>;
}

/** A transaction takes so many submissions, or one group that is larger. */
const MAX_BATCH = 200;
const MAX_WAITING = 5_000;
/** Transactions at once, at most, where the database takes more than one. */
const MAX_RUNS = 2;

interface Waiting {
  readonly group: readonly Submission[];
  settle(outcomes: Settled[]): void;
}

/**
 * Collects submissions while earlier transactions run, or for one turn of the event loop when none does, and writes
 * them together: one commit for many requests. A batch that the data of one row can have spoilt is tried again in halves,
 * down to that row, so that only the submission that cannot be written fails.
 */
export function createAcceptWriter(deps: AcceptWriterDeps): AcceptWriter {
  const waiting: Waiting[] = [];
  let submissionsWaiting = 0;
  const runs = new Set<Promise<void>>();
  const mostRuns = Math.min(MAX_RUNS, deps.database.connections);

  /** Another transaction at the same time is for a whole batch: measured, small ones only became smaller and dearer. */
  const enoughWaits = (others: number): boolean => submissionsWaiting >= (others > 0 ? MAX_BATCH : 1);

  function startRun(): void {
    if (runs.size >= mostRuns || !enoughWaits(runs.size)) return;
    const run: Promise<void> = writeWaiting(() => {
      const goesOn = enoughWaits(runs.size - 1);
      // In the same breath as the look: a submission that comes now starts a run of its own.
      if (!goesOn) runs.delete(run);
      return goesOn;
    });
    runs.add(run);
  }

  function nextBatch(): Waiting[] {
    let size = 0;
    const full = waiting.findIndex(({ group }) => {
      size += group.length;
      return size > MAX_BATCH;
    });
    const batch = waiting.splice(0, full < 0 ? waiting.length : Math.max(full, 1));
    for (const { group } of batch) submissionsWaiting -= group.length;
    return batch;
  }

  /** One turn of the event loop lets what arrives together be written together. */
  async function writeWaiting(goesOn: () => boolean): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (goesOn()) {
      const batch = nextBatch();
      const groups = batch.map(({ group }) => group);
      const outcomes = await writeOrSplit(deps, groups);
      for (const { group, settle } of batch) settle(outcomes.splice(0, group.length));
    }
  }

  function acceptTogether(group: readonly Submission[]): Promise<Settled[]> {
    if (submissionsWaiting >= MAX_WAITING) throw retryLater('unavailable', 'Too many writes are waiting.', 1);
    return new Promise((settle) => {
      waiting.push({ group, settle });
      submissionsWaiting += group.length;
      startRun();
    });
  }

  return {
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

/** What becomes of each submission of these groups, in their order. A group is split only when it is alone and spoilt. */
async function writeOrSplit(deps: AcceptWriterDeps, groups: readonly (readonly Submission[])[]): Promise<Settled[]> {
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

/** One transaction; its outcomes are told only after the commit. */
async function writeBatch(deps: AcceptWriterDeps, batch: readonly Submission[]): Promise<Outcome[]> {
  const { deployment } = deps;
  const tenants = new Set(batch.map(({ principal }) => principal.tenantId));
  const scope = [...tenants, deployment.publicTenancy, deployment.deploymentTenancy];
  await deps.failpoints.reach('accept.before');
  const result = await deps.database.inTransaction({ read: scope, write: scope }, (tx) => acceptBatch(tx, deps, batch));
  await deps.failpoints.reach('accept.after');
  for (const outcome of result.outcomes) if ('accepted' in outcome) deps.metrics.accepted(outcome.accepted.kind);
  deps.metrics.batchAccepted(batch.length);
  for (const log of result.logs) deps.nudge(log.tenantId, log.logId);
  return result.outcomes;
}

/** True for an error that a single row can cause: data and constraint errors, or a fault in our own planning. */
function mayBeOneRow(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') return /^(2[23]|54|P0)/.test(code);
  return error instanceof TypeError || error instanceof RangeError;
}
