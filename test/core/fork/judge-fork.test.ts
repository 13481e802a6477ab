import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogFork } from '../../../src/core/fork/fork-statement.js';
import { signForkStatement } from '../../../src/core/fork/fork-statement.js';
import { judgeFork } from '../../../src/core/fork/judge-fork.js';
import { readForkStatement } from '../../../src/core/fork/read-fork-statement.js';
import { sampleRoot } from '../keys/sample-manifests.js';
import { LOG, lastSeal, sampleFork } from './sample-forks.js';

const read = async (more: Partial<LogFork> = {}) =>
  readForkStatement(await signForkStatement(sampleFork(more), sampleRoot(21), 'issuer'));
const last = (log: string, leaves: bigint) => ({ log, number: 7n, leaves, seal: lastSeal(leaves) });

describe('an open fork', () => {
  it('keeps all that was seen of what both logs share, and loses the rest', async () => {
    const fork = await read();
    for (const [leaves, kept] of [
      [1n, 1n],
      [6n, 6n],
      [7n, 6n],
      [9n, 6n],
    ] as const)
      expect(judgeFork({ name: LOG, leaves }, `${LOG}.1`, [fork])).toMatchObject({ kept, newest: { log: `${LOG}.1` } });
  });

  it('is silent if its statement is missing, is there twice, or names a smaller last seal than was seen', async () => {
    const fork = await read();
    const judge = (leaves: bigint, forks: (typeof fork)[]) => () => judgeFork({ name: LOG, leaves }, `${LOG}.1`, forks);
    expect(judge(9n, [fork])).not.toThrow();
    expect(judge(10n, [fork])).toThrow('a silent fork');
    expect(judge(1n, [])).toThrow('a silent fork');
    expect(judge(1n, [fork, fork])).toThrow('a silent fork');
    expect(judge(1n, [await read({ log: `${LOG}.2` })])).toThrow('a silent fork');
    const other = LOG.replace('0002', '0003');
    expect(() => judgeFork({ name: other, leaves: 1n }, `${LOG}.1`, [fork])).toThrow('the log is');
    expect(() => judgeFork({ name: `${LOG}.1`, leaves: 1n }, LOG, [fork])).toThrow('a rollback');
  });

  it('of a fork counts from each generation that was seen', async () => {
    const first = await read();
    // The database was from before the first fork.
    const second = await read({ log: `${LOG}.2`, leaves: 5n, last: last(`${LOG}.1`, 12n) });
    const forks = [second, first];
    expect(judgeFork({ name: LOG, leaves: 9n }, `${LOG}.2`, forks)).toMatchObject({
      kept: 5n,
      ended: { log: `${LOG}.1` },
    });
    expect(judgeFork({ name: `${LOG}.1`, leaves: 12n }, `${LOG}.2`, forks)).toMatchObject({ kept: 5n });
    expect(() => judgeFork({ name: `${LOG}.1`, leaves: 13n }, `${LOG}.2`, forks)).toThrow('a silent fork');
    expect(() => judgeFork({ name: LOG, leaves: 9n }, `${LOG}.2`, [second])).toThrow('a silent fork');
    // The first fork ended another log than the one that was seen last.
    const elsewhere = await read({ log: `${LOG}.3`, continues: `${LOG}.1`, last: last(`${LOG}.1`, 12n) });
    expect(() => judgeFork({ name: `${LOG}.2`, leaves: 1n }, `${LOG}.3`, [first, elsewhere])).toThrow(
      `no statement names the last seal of "${LOG}.2": a silent fork`,
    );
    // A statement that a crash left unused: the next one names the same last seal.
    const again = await read({ log: `${LOG}.2` });
    expect(judgeFork({ name: LOG, leaves: 9n }, `${LOG}.2`, [first, again])).toMatchObject({ kept: 6n });
  });

  it('is never open for more leaves than the named last seal has, and never keeps more than was shared or seen', async () => {
    const count = fc.bigInt({ min: 0n, max: 40n });
    await fc.assert(
      fc.asyncProperty(count, count, count, async (shared, ended, leaves) => {
        const fork = await read({ leaves: shared, last: last(LOG, ended) });
        const judge = () => judgeFork({ name: LOG, leaves }, `${LOG}.1`, [fork]);
        if (leaves > ended) expect(judge).toThrow('a silent fork');
        else expect(judge().kept).toBe(leaves < shared ? leaves : shared);
      }),
      { numRuns: 60 },
    );
  });
});
