import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { followMmrLog } from '../../src/cli/monitor/follow-mmr-log.js';
import { forkLeaf } from '../../src/core/fork/fork-leaf.js';
import { type LogFork, signForkStatement } from '../../src/core/fork/fork-statement.js';
import { baggedRoot } from '../../src/core/mmr/bagged-root.js';
import { sizeOfLeaves } from '../../src/core/mmr/leaf-count.js';
import { peaks } from '../../src/core/mmr/peaks.js';
import { type SampleSealedLog, sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { followRig, withForks } from './follow-rig.js';
import { type Answer, publishedTenancyLog } from './sample-published-logs.js';

const ISSUER = 'https://archive.example';
const { sealer, stranger } = sampleSigners;
const rig = followRig();

describe('monitor over an open fork of a tenancy’s log', () => {
  const LOG = `tenant/${SAMPLE_TENANCY}`;
  const seen = sampleSealedLog({ leaves: 16 });

  interface Forked {
    readonly shared: number;
    /** Leaves of the log that ended. */
    readonly ended?: number;
    /** Leaves that the forked log shows. */
    readonly shows?: number;
    /** The log whose last seal the statement names, if it is not the one that was seen. */
    readonly endedAs?: SampleSealedLog;
    readonly says?: Partial<LogFork>;
    readonly by?: typeof sealer;
    /** The first leaf that is not as it was seen. */
    readonly ownFrom?: number;
    readonly withoutStatement?: boolean;
  }

  /** With events of its own from a leaf on, and with statements as leaves. */
  function logAs(subject: string, leaves: number, ownFrom: number, statements = new Map<number, Uint8Array>()) {
    const event = (leaf: number) => (leaf < ownFrom ? {} : { operation: 'Later' });
    const otherLeaf = (leaf: number, idtimestamp: bigint) => {
      const statement = statements.get(leaf);
      return statement && forkLeaf(statement, idtimestamp);
    };
    return sampleSealedLog({ leaves, subject, event, otherLeaf });
  }

  /** States that a log shares its first leaves with the one before. */
  function statementOf(
    of: SampleSealedLog,
    shared: number,
    says: Pick<LogFork, 'last'> & Partial<LogFork>,
    by = sealer,
  ) {
    const root = baggedRoot(peaks(sizeOfLeaves(BigInt(shared))).map((index) => of.nodes[Number(index)]!));
    const fork = { log: `${LOG}.1`, continues: LOG, sealNumber: 5n, leaves: BigInt(shared), root };
    return signForkStatement({ ...fork, reason: 'the disk was lost', forkedAtMs: 1737045860000, ...says }, by, ISSUER);
  }

  const lastSeal = async (of: SampleSealedLog, leaves: number, log = LOG) => ({
    last: { log, number: 9n, leaves: BigInt(leaves), seal: await of.seal(leaves) },
  });

  async function forked({ shared, ended = 10, endedAs = seen, says, by, ...plan }: Forked): Promise<Answer> {
    const { shows = 12, ownFrom = shared, withoutStatement = false } = plan;
    const shownAs = (statements?: Map<number, Uint8Array>) => logAs(`${LOG}.1`, shows, ownFrom, statements);
    const statement = await statementOf(shownAs(), shared, { ...(await lastSeal(endedAs, ended)), ...says }, by);
    const shown = shownAs(withoutStatement ? undefined : new Map([[shared, statement]]));
    return withForks(publishedTenancyLog(shown, shows), statement);
  }

  const look = () =>
    followMmrLog(
      {
        url: rig.url,
        tenancy: SAMPLE_TENANCY,
        subject: LOG,
        trust: { logKeys: [sealer.publicKey] },
        random: () => 0,
        now: Date.now,
        mustBeCovered: () => false,
      },
      rig.kept,
    );
  /** What a monitor that saw so many leaves says of the forked log. */
  async function after(leaves: number, plan: Forked): Promise<string> {
    rig.answer = publishedTenancyLog(seen, leaves);
    await look();
    rig.answer = await forked(plan);
    return look();
  }

  it.each<[number, number, string]>([
    [3, 5, 'it holds all that was seen'],
    [5, 5, 'it holds all that was seen'],
    [10, 9, '1 of the 10 leaves that were seen is lost.'],
    [10, 8, '2 of the 10 leaves that were seen are lost.'],
    [16, 13, '3 of the 16 leaves that were seen are lost.'],
    [16, 10, '6 of the 16 leaves that were seen are lost, and 2 of the other 10 could not be compared.'],
    [9, 2, '7 of the 9 leaves that were seen are lost, and 2 of the other 2 could not be compared.'],
  ])(
    'that saw %i leaves, of which the first %i are shared, says that %s, and goes on',
    async (leaves, shared, says) => {
      expect(await after(leaves, { shared, ended: 16, shows: 14 })).toContain(says);
      expect(await look()).toMatch(/^14 leaves in 4 massifs/);
    },
  );

  it.each<[string, number, Forked, string, string]>([
    [
      'does not have the statement as its first leaf',
      5,
      { shared: 5, withoutStatement: true },
      'leaf_mismatch',
      'leaf 5 is not the fork statement: a silent fork',
    ],
    [
      'has other leaves than its statement says',
      9,
      { shared: 5, says: { root: new Uint8Array(32) } },
      'consistency_invalid',
      'the log holds other leaves than its fork statement says',
    ],
    [
      'has not sealed the statement',
      9,
      { shared: 6, shows: 6 },
      'consistency_invalid',
      'no sealed massif holds the fork statement: a silent fork',
    ],
    [
      'names a last seal over another state than was seen',
      9,
      { shared: 5, ended: 9, endedAs: logAs(LOG, 9, 2) },
      'seal_signature_invalid',
      'the seal',
    ],
    ['has a statement by another key', 9, { shared: 5, by: stranger }, 'log_key_not_trusted', 'the fork statement'],
    [
      'changed a leaf of the massif that was seen, which it says to have kept',
      7,
      { shared: 6, ownFrom: 4 },
      'consistency_invalid',
      'the log holds other nodes below size 10: a fork',
    ],
    [
      'changed a leaf of an earlier massif, which it says to have kept',
      10,
      { shared: 9, ownFrom: 2 },
      'consistency_invalid',
      'the log holds other nodes below size 16: a fork',
    ],
    [
      'changed a leaf before the massif that was seen, and says to have kept only earlier ones',
      13,
      { shared: 9, ended: 13, ownFrom: 2 },
      'consistency_invalid',
      'the log holds other nodes below size 16: a fork',
    ],
  ])('calls the fork silent if the log %s', async (_, leaves, plan, code, says) => {
    await expect(after(leaves, plan)).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
  });

  it('of a later generation compares what each generation has kept', async () => {
    const over = async (ownFrom: number) => {
      rig.answer = publishedTenancyLog(seen, 7);
      await look();
      const first = await statementOf(logAs(`${LOG}.1`, 12, ownFrom), 5, await lastSeal(seen, 10));
      const between = logAs(`${LOG}.1`, 12, ownFrom, new Map([[5, first]]));
      const names = { log: `${LOG}.2`, continues: `${LOG}.1`, ...(await lastSeal(between, 11, `${LOG}.1`)) };
      const second = await statementOf(between, 9, names);
      const statements = new Map([5, 9].map((leaf) => [leaf, leaf === 5 ? first : second]));
      const newest = publishedTenancyLog(logAs(`${LOG}.2`, 12, ownFrom, statements), 12);
      rig.answer = withForks(newest, first, second);
      return look();
    };
    expect(await over(5)).toContain('2 of the 7 leaves that were seen are lost');
    await rm(rig.folder, { recursive: true });
    await expect(over(2)).rejects.toThrow('the log holds other nodes below size 8: a fork');
  });
});
