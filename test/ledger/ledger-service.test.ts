import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCommitNudge } from '../../src/ledger/commit-nudge.js';
import type { Nudge } from '../../src/ledger/gathered-nudges.js';
import { insertIntake, insertNewIntake } from '../../src/ledger/intake-store.js';
import type { LogRef } from '../../src/ledger/log.js';
import { createLedger, type Ledger } from '../../src/ledger/round.js';
import { createIds } from '../../src/platform/ids.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { engines } from '../support/engines.js';
import { comingTo } from './coming-rig.js';
import { auditLog } from './ledger-audit.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';

const silent = pino({ level: 'silent' });

interface Figures {
  rounds: number;
  leaves: number;
  sweeps: number;
}

const noFigures = (): Figures => ({ rounds: 0, leaves: 0, sweeps: 0 });

function ledgerOf(
  rig: LedgerRig,
  queueBackend: QueueBackend,
  figures: Figures = noFigures(),
  mayRun = () => true,
): Ledger {
  return createLedger({
    ...rig.state.context,
    ids: createIds(rig.state.context.clock),
    queueBackend,
    mayRun,
    parallelLogs: rig.database.engine === 'PostgreSQL' ? 4 : 1,
    metrics: {
      roundEnded: () => {
        figures.rounds += 1;
      },
      batchCommitted: (leaves) => {
        figures.leaves += leaves;
      },
      lagged: () => {
        figures.sweeps += 1;
      },
    },
  });
}

const WITHIN_MS = 30_000;
/** For so long a round waits for statements that are coming. */
const WAITED_FOR_MS = 1_000;

/** Resolves when the log has published so many leaves: a busy machine may take its time. */
async function published(opened: Opened, log: LogRef, leaves: number): Promise<void> {
  const begun = performance.now();
  for (;;) {
    const [row] = await opened.asOwner(
      'SELECT published_size > 0 AND published_size = size AND leaves >= $2 AS done FROM archivist.log WHERE log_id = $1',
      [log.logId, leaves],
    );
    if (row!['done']) return;
    if (performance.now() - begun > WITHIN_MS) throw new Error('nothing was published in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.each(engines())('the ledger service on %s', (engine) => {
  let opened: Opened;
  let queues: QueueBackend;
  /** One object store for all tests: a ledger halts the logs that its object store does not know. */
  let shared: LedgerRig;
  beforeAll(async () => {
    opened = await openEngine(engine);
    shared = opened.rig();
    queues = postgresQueues(opened.database, silent);
  });
  afterAll(async () => {
    await queues.close();
    await opened.close();
  });

  it('brings nudged entries to CONFIRMED', async () => {
    const rig = shared.sibling();
    const log = await rig.newLog('MMR_SHA256');
    const ledger = ledgerOf(rig, queues);
    await ledger.start();
    try {
      const accepted: string[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        accepted.push(...(await rig.accept(log, 'asset_event', 1)));
        ledger.nudge(log.tenantId, log.logId);
        await published(opened, log, accepted.length);
      }
      await auditLog(rig, log, accepted);
    } finally {
      await ledger.stop();
    }
  });

  /** A log that this ledger has left after one entry. */
  async function leftBy(ledger: Ledger, rig: LedgerRig): Promise<{ log: LogRef; accepted: string[] }> {
    const log = await rig.newLog('RFC9162_SHA256');
    const accepted = await rig.accept(log, 'statement', 1);
    ledger.nudge(log.tenantId, log.logId);
    await published(opened, log, 1);
    return { log, accepted };
  }

  it('takes statements that were prepared in one round, and needs no nudge for them', async () => {
    const rig = shared.sibling();
    const figures = noFigures();
    const ledger = ledgerOf(rig, queues, figures);
    await ledger.start();
    try {
      const { log, accepted } = await leftBy(ledger, rig);
      for (let inTime = false; !inTime; ) {
        const { coming, entryIds, commit, settle } = comingTo(rig, log, 2);
        rig.reached.length = figures.rounds = 0;
        const begun = performance.now();
        ledger.prepare(log, coming);
        await expect.poll(() => rig.reached).toContain('seal.signed');
        await commit();
        settle(true);
        // Later than this, a busy machine has let the round end without them.
        inTime = performance.now() - begun < WAITED_FOR_MS;
        // A caller waits for the receipt.
        ledger.nudge(log.tenantId, log.logId, { urgent: true, entries: 0 });
        accepted.push(...entryIds);
        await published(opened, log, accepted.length);
      }
      expect(figures.rounds).toBe(1);
      await auditLog(rig, log, accepted);
    } finally {
      await ledger.stop();
    }
  });

  it('does not let a log wait for statements that come late, and finds them afterwards', async () => {
    const rig = shared.sibling();
    const ledger = ledgerOf(rig, queues);
    await ledger.start();
    try {
      const { log, accepted } = await leftBy(ledger, rig);
      const { coming, entryIds, commit, settle } = comingTo(rig, log);
      ledger.prepare(log, coming);
      accepted.push(...(await rig.accept(log, 'statement', 1)));
      ledger.nudge(log.tenantId, log.logId);
      await published(opened, log, 2);
      await commit();
      settle(true);
      await published(opened, log, 3);
      await auditLog(rig, log, [...accepted, ...entryIds]);
    } finally {
      await ledger.stop();
    }
  });

  it('finds what waits beside statements that are coming at its next sweep, although their round runs', async () => {
    const rig = shared.sibling();
    const figures = noFigures();
    /** What a later sweep finds does not begin. */
    let lastSweep = Number.POSITIVE_INFINITY;
    const ledger = ledgerOf(rig, queues, figures, () => figures.sweeps < lastSweep);
    const nextSweep = (): Promise<unknown> => {
      const { sweeps } = figures;
      return vi.waitUntil(() => figures.sweeps > sweeps, { timeout: WITHIN_MS, interval: 5 });
    };
    await ledger.start();
    try {
      const { log, accepted } = await leftBy(ledger, rig);
      lastSweep = 0;
      accepted.push(...(await rig.accept(log, 'statement', 1)));
      // The next sweep comes before the round waits no longer.
      await nextSweep();
      await wait(500);
      lastSweep = figures.sweeps + 1;
      const { coming, settle } = comingTo(rig, log);
      ledger.prepare(log, coming);
      await nextSweep();
      settle(false);
      await published(opened, log, 2);
      await auditLog(rig, log, accepted);
    } finally {
      await ledger.stop();
    }
  });

  it('nudges statements that it could not prepare, when they are committed', async () => {
    const rig = shared.sibling();
    const log = await rig.newLog('RFC9162_SHA256');
    const added = vi.fn(async () => undefined);
    const ledger = ledgerOf(rig, { ...queues, queue: () => ({ add: added }) as never });
    for (const committed of [false, true]) {
      const { coming, settle } = comingTo(rig, log);
      ledger.prepare(log, coming);
      settle(committed);
      await wait(100);
      expect(added).toHaveBeenCalledTimes(committed ? 1 : 0);
    }
    await ledger.stop();
  });

  it('finds what waits in every log without any nudge, and while the queue is down', async () => {
    const rig = shared.sibling();
    const down = { ...queues, queue: () => ({ add: () => Promise.reject(new Error('the queue is down')) }) as never };
    const ledger = ledgerOf(rig, down);
    const logs = [];
    for (let count = 1; count <= 4; count += 1) {
      const log = await rig.newLog(count % 2 ? 'MMR_SHA256' : 'RFC9162_SHA256', 3);
      logs.push({ log, accepted: await rig.accept(log, count % 2 ? 'asset_event' : 'statement', 3 * count) });
    }
    await ledger.start();
    try {
      ledger.nudge(logs[0]!.log.tenantId, logs[0]!.log.logId);
      for (const { log, accepted } of logs) await published(opened, log, accepted.length);
    } finally {
      await ledger.stop();
    }
    for (const { log, accepted } of logs) await auditLog(rig, log, accepted);
  });

  it('asks for no second round of a log while sweeps find the entries that its round has taken', async () => {
    const rig = shared.sibling();
    const log = await rig.newLog('MMR_SHA256');
    const accepted = await rig.accept(log, 'asset_event', 2);
    const figures = noFigures();
    const sweeps = async (count: number): Promise<void> =>
      void (await vi.waitUntil(() => figures.sweeps >= count, { timeout: WITHIN_MS }));
    // Three sweeps begin while the seal of the log is not published.
    rig.onReach = (name) => (name === 'publish.before' ? sweeps(4) : undefined);
    const ledger = ledgerOf(rig, queues, figures);
    await ledger.start();
    try {
      await published(opened, log, 2);
      await sweeps(figures.sweeps + 1);
      expect(figures.rounds).toBe(1);
    } finally {
      await ledger.stop();
    }
    await auditLog(rig, log, accepted);
  });

  it('takes up a seal that was signed and not published, with no entry waiting', async () => {
    const rig = shared.sibling();
    const log = await rig.newLog('MMR_SHA256');
    const accepted = await rig.accept(log, 'asset_event', 2);
    rig.onReach = (name) => {
      if (name === 'publish.before') throw new Error('the process ends here');
    };
    await expect(rig.drain(log)).rejects.toThrow('the process ends here');
    const restarted = rig.sibling();
    const ledger = ledgerOf(restarted, queues);
    await ledger.start();
    await published(opened, log, 2);
    await ledger.stop();
    await auditLog(restarted, log, accepted);
  });

  it('starts after one round of a log whose seal was not published, however much waits for it', async () => {
    const rig = shared.sibling();
    const log = await rig.newLog('MMR_SHA256', 3);
    const accepted = await rig.accept(log, 'asset_event', 4);
    await rig.drain(log);
    accepted.push(...(await rig.accept(log, 'asset_event', 60)));
    rig.onReach = (name) => {
      if (name === 'publish.before') throw new Error('the process ends here');
    };
    await expect(rig.drain(log)).rejects.toThrow('the process ends here');
    const restarted = rig.sibling();
    let goesOn = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      goesOn = resolve;
    });
    // A massif of four leaves ends a batch: the seal that was left and eight batches are the first round.
    let seals = 0;
    restarted.onReach = (name) => {
      if (name !== 'publish.before') return undefined;
      seals += 1;
      return seals > 9 ? started : undefined;
    };
    const ledger = ledgerOf(restarted, queues);
    await ledger.start();
    goesOn();
    await published(opened, log, 64);
    await ledger.stop();
    await auditLog(restarted, log, accepted);
  });

  it('hears a nudge through the queue, a hundred of them as one or two', async () => {
    const nudges = createCommitNudge(queues, silent);
    const heard: LogRef[] = [];
    const log = { tenantId: 'a tenancy', logId: 'a log' };
    await nudges.listen(async (nudged) => void heard.push(nudged));
    for (let nudge = 0; nudge < 100; nudge += 1) nudges.nudge(log, { urgent: false, entries: 1 });
    await vi.waitFor(() => expect(heard).toContainEqual(log), WITHIN_MS);
    await nudges.close();
    expect(heard.length).toBeLessThan(3);
  });

  it('hears through the queue that a caller waits, beside a job that pauses', async () => {
    const here = createCommitNudge(queues, silent);
    const elsewhere = createCommitNudge(queues, silent);
    const log = { tenantId: 'a tenancy', logId: 'a waited-for log' };
    const heard: Nudge[] = [];
    let endPause = (): void => {};
    const pause = new Promise<void>((resolve) => {
      endPause = resolve;
    });
    await here.listen(async (_, nudge) => {
      heard.push(nudge);
      if (!nudge.urgent) await pause;
    });
    elsewhere.nudge(log, { urgent: false, entries: 2 });
    elsewhere.nudge(log, { urgent: false, entries: 1 });
    await vi.waitFor(() => expect(heard).toMatchObject([{ urgent: false, entries: 3 }]), WITHIN_MS);
    elsewhere.nudge(log, { urgent: false, entries: 1 });
    elsewhere.nudge(log, { urgent: true, entries: 0 });
    await vi.waitFor(() => expect(heard).toMatchObject([{ urgent: false }, { urgent: true, entries: 1 }]), WITHIN_MS);
    endPause();
    await elsewhere.close();
    await here.close();
  });

  it('hears of entries that came while the job of the same log ran', async () => {
    const nudges = createCommitNudge(queues, silent);
    const log = { tenantId: 'a tenancy', logId: 'a busy log' };
    let rounds = 0;
    await nudges.listen(async () => {
      rounds += 1;
      if (rounds > 1) return;
      nudges.nudge(log, { urgent: false, entries: 1 });
      await new Promise((resolve) => setTimeout(resolve, 500));
    });
    nudges.nudge(log, { urgent: false, entries: 1 });
    await vi.waitFor(() => expect(rounds).toBe(2), WITHIN_MS);
    await nudges.close();
  });

  it('tells how long the oldest entry has waited and how many logs are halted', async () => {
    const rig = shared.sibling();
    const ledger = ledgerOf(rig, queues);
    const [waiting, halted] = [await rig.newLog('MMR_SHA256'), await rig.newLog('MMR_SHA256')];
    expect(await ledger.lag()).toEqual({ oldestWaitingMs: 0, haltedLogs: 0 });
    const entryId = createIds({ now: () => Date.now() - 60_000 }).uuid();
    const older = createIds({ now: () => Date.now() - 3_600_000 }).uuid();
    const entry = { entryKind: 'asset_event', entryTenantId: waiting.tenantId, entryLength: 32 } as const;
    await rig.database.inTransaction('system', (tx) =>
      executeAll(
        tx,
        insertIntake([
          { ...waiting, ...entry, entryId },
          { ...halted, ...entry, entryId: older },
        ]),
      ),
    );
    await opened.asOwner(`UPDATE archivist.log SET halted = 'as a test says' WHERE log_id = $1`, [halted.logId]);
    const lag = await ledger.lag();
    expect(lag.haltedLogs).toBe(1);
    expect(lag.oldestWaitingMs).toBeGreaterThanOrEqual(60_000);
    expect(lag.oldestWaitingMs).toBeLessThan(3_000_000);
    await opened.asOwner('DELETE FROM archivist.intake');
    await opened.asOwner('UPDATE archivist.log SET halted = NULL');
    await ledger.stop();
  });

  it('fails a transaction that queues a new entry twice for one log', async () => {
    const rig = shared.sibling();
    const log = await rig.newLog('MMR_SHA256');
    const [entryId] = await rig.accept(log, 'asset_event', 1);
    const entry = {
      entryId: entryId!,
      entryKind: 'asset_event',
      entryTenantId: log.tenantId,
      entryLength: 32,
    } as const;
    const again = insertNewIntake([{ ...log, ...entry }]);
    const queuing = rig.database.inTransaction('system', (tx) => executeAll(tx, again));
    await expect(queuing).rejects.toMatchObject({ code: '23505' });
    await rig.drain(log);
  });

  it('lets another ledger take over at once when it stops, and goes on without a lost or doubled entry', async () => {
    const rig = shared.sibling();
    const other = rig.sibling();
    const log = await rig.newLog('RFC9162_SHA256');
    const accepted: string[] = [];
    let ledger = ledgerOf(rig, queues);
    await ledger.start();
    for (let turn = 0; turn < 6; turn += 1) {
      accepted.push(...(await rig.accept(log, 'statement', 20)));
      ledger.nudge(log.tenantId, log.logId);
      const next = ledgerOf(turn % 2 ? rig : other, queues);
      await next.start();
      await ledger.stop();
      ledger = next;
    }
    await published(opened, log, accepted.length);
    await ledger.stop();
    await auditLog(rig, log, accepted);
  });
});
