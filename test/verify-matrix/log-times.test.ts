import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';

const { rig, judged } = bothVerifiers('log-times');

interface Answer {
  readonly outcome: string;
  readonly contradictions?: readonly { readonly code: string }[];
  readonly remarks?: readonly { readonly what: string }[];
}

const short = ({ outcome, contradictions = [], remarks = [] }: Answer) => [
  outcome,
  ...contradictions.map(({ code }) => code),
  ...remarks.map(({ what }) => what),
];

/** The outcome, refusals and remarks, which both verifiers must answer alike. */
async function told(files: GivenFiles): Promise<readonly string[]> {
  return short(await judged<Answer>(files, short));
}

const LEAF_MS = Date.parse('2025-01-16T16:44:09.616Z');
const iso = (ms: number) => new Date(ms).toISOString();
const one = (more: object = {}) => sampleSealedLog({ leaves: 3, event: () => more });
const eventOf = (log: ReturnType<typeof one>, leaf: number) => utf8(JSON.stringify(log.events[leaf]));

describe('times of one service that contradict each other are remarked, and change no outcome:', () => {
  it.each([
    ['in time', iso(LEAF_MS - 1), []],
    ['5 s later, as clocks may differ', iso(LEAF_MS + 5_000), []],
    ['more than 5 s later', iso(LEAF_MS + 5_001), ['accepted_after_committed']],
    ['later, by the time of another zone', '2025-01-16T15:50:00-01:00', ['accepted_after_committed']],
    ['at no time', 'tomorrow', []],
  ])('an event that was accepted %s', async (_, accepted, remarks) => {
    const log = one({ timestamp_accepted: accepted });
    const files = { 'event.json': eventOf(log, 0), 'receipt.cose': await log.receipt(0) };
    expect(await told(files)).toEqual(['verified', ...remarks]);
  });

  it.each([
    [4_000, []],
    [6_000, ['sealed_before_leaf']],
  ])('a seal %i ms older than the newest leaf under it', async (older, remarks) => {
    const log = one();
    const files = { '0.log': log.massif(0), '0.sth': await log.seal(3, LEAF_MS + 2 - older) };
    expect(await told(files)).toEqual(['verified', ...remarks]);
    expect(await told({ ...files, 'event.json': eventOf(log, 1) })).toEqual(['verified', ...remarks]);
  });

  it('a seal in a replica that is older than the one before it, or than its own leaves', async () => {
    const log = sampleSealedLog({ leaves: 12 });
    const replica = async (name: string, sealedAt: readonly number[]) => {
      for (const [massif, at] of sealedAt.entries()) {
        rig.file(`${name}/massifs/000000000000000${massif}.log`, log.massif(massif, 4 * massif + 4));
        rig.file(`${name}/massifseals/000000000000000${massif}.sth`, await log.seal(4 * massif + 4, at));
      }
      const { out } = await rig.verify('--json', join(rig.folder, name));
      return short(JSON.parse(out) as Answer);
    };
    const now = LEAF_MS + 60_000;
    expect(await replica('right', [now, now, now - 4_000])).toEqual(['verified']);
    expect(await replica('older', [now, now - 6_000, now])).toEqual(['verified', 'sealed_before_older_seal']);
    expect(await replica('first', [LEAF_MS - 6_000, now, now])).toEqual(['verified', 'sealed_before_leaf']);
  });

  it('a newer seal among single files is refused, as the rule of seals says', async () => {
    const log = sampleSealedLog({ leaves: 8 });
    const files = { '0.log': log.massif(0, 4), '0.sth': await log.seal(4, LEAF_MS + 9_000), '1.log': log.massif(1) };
    expect(await told({ ...files, '1.sth': await log.seal(8, LEAF_MS + 8_000) })).toEqual([
      'refused',
      'consistency_invalid',
    ]);
  });

  it('the first line of the command says so, and the piece and both times follow', async () => {
    const log = one({ timestamp_accepted: '2025-01-16T18:00:00Z' });
    const files = [rig.file('event.json', eventOf(log, 0)), rig.file('receipt.cose', await log.receipt(0))];
    const { out, exitCode } = await rig.verify(...files);
    expect(exitCode).toBe(0);
    expect(out.split('\n')[0]).toMatch(/^VERIFIED\..* Times of the log contradict each other\.$/);
    expect(out).toContain(
      'event.json/event: the service says that it accepted the event at 2025-01-16T18:00:00Z, but its log committed it at 2025-01-16T16:44:09.616Z, before that',
    );
  });
});

it('a leaf that is older than one before it in the same log is refused: no log of this format has both', async () => {
  const step = 2n << 24n;
  const falling = sampleSealedLog({ leaves: 3, idAt: (leaf) => 0x9470003611017900n - BigInt(leaf) * step });
  const pieces = async (log: typeof falling, at: number) => ({
    [`event-${at}.json`]: eventOf(log, at),
    [`receipt-${at}.cose`]: await log.receipt(at),
  });
  const both = async (log: typeof falling) => ({ ...(await pieces(log, 0)), ...(await pieces(log, 1)) });
  expect(await told(await both(one()))).toEqual(['verified']);
  expect(await told(await both(falling))).toEqual(['refused', 'consistency_invalid']);
});
