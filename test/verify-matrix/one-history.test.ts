import { join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { attachRfc9162Inclusion, signRoot } from '../../src/core/receipt/rfc9162-receipt.js';
import { rfc9162Leaf } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../src/core/rfc9162/rfc9162-parent.js';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  SAMPLE_STATEMENT_LOG,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipts,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';

const { rig, judged } = bothVerifiers('one-history');

interface Answer {
  readonly outcome: string;
  readonly contradictions?: readonly { readonly code: string }[];
}

const short = ({ outcome, contradictions = [] }: Answer) => [
  outcome,
  ...new Set(contradictions.map(({ code }) => code)),
];

async function ours(...paths: string[]): Promise<readonly string[]> {
  return short(JSON.parse((await rig.verify('--json', ...paths)).out) as Answer);
}

/** The outcome and the codes of refusals, which both verifiers must answer alike. */
async function told(files: GivenFiles): Promise<readonly string[]> {
  return short(await judged<Answer>(files, short));
}

const LEAVES = 20;
const FIRST = sampleSealedLog({ leaves: LEAVES });
/** Another history of the log, from leaf 5 on. */
const SECOND = sampleSealedLog({ leaves: LEAVES, event: (leaf) => (leaf === 5 ? { operation: 'Other' } : {}) });
type Log = typeof FIRST;

const proven = async (name: string, log: Log, leaf: number, leaves?: number): Promise<GivenFiles> => ({
  [`${name}.json`]: utf8(JSON.stringify(log.events[leaf])),
  [`${name}.cose`]: await log.receipt(leaf, leaves),
});
const massifFiles = async (log: Log, massif: number, leaves: number) => ({
  'copy.log': log.massif(massif, leaves),
  'copy.sth': await log.seal(leaves),
});
const REFUSED = ['refused', 'consistency_invalid'];
const VERIFIED = ['verified'];

describe('what is given of one log is of one history:', () => {
  it.each([
    ['a leaf and the sibling of another one', 4, 8, 5, 8],
    ['two peaks of one size', 6, 8, 7, 8],
    ['a peak and a node under a later peak', 6, 8, 0, 16],
    ['two leaves far apart under one node', 2, 16, 9, 16],
  ])('%s', async (_, leaf, size, other, otherSize) => {
    const one = await proven('one', FIRST, leaf, size);
    expect(await told({ ...one, ...(await proven('other', FIRST, other, otherSize)) })).toEqual(VERIFIED);
    expect(await told({ ...one, ...(await proven('other', SECOND, other, otherSize)) })).toEqual(REFUSED);
    const shared = await proven('other', SECOND, 1, 4);
    expect(await told({ ...one, ...shared })).toEqual(VERIFIED);
  });

  it.each([
    ['in the massif', 4, 1, 8],
    ['in a massif after it, by its path', 2, 1, 8],
    ['before the massif, by the peaks where that begins', 4, 2, 12],
    ['in a massif further on, by the peaks where that begins', 4, 3, 16],
  ])('an entry and a copy of the log: the entry is %s', async (_, leaf, massif, leaves) => {
    const one = await proven('one', FIRST, leaf, 8);
    expect(await told({ ...one, ...(await massifFiles(FIRST, massif, leaves)) })).toEqual(VERIFIED);
    expect(await told({ ...one, ...(await massifFiles(SECOND, massif, leaves)) })).toEqual(REFUSED);
  });

  it('the massifs of one bundle that are not adjacent', async () => {
    const bundle = async (later: Log, event = FIRST.events[0]) => {
      const files: Record<string, Uint8Array> = {
        'event.json': utf8(JSON.stringify(event)),
        'tenancy-log-receipt.cose': await FIRST.receipt(0, 4),
      };
      for (const [log, massif] of [
        [FIRST, 1],
        [later, 3],
      ] as const) {
        const path = (kind: string, end: string) =>
          `log/tenant/${SAMPLE_TENANCY}/0/${kind}/000000000000000${massif}.${end}`;
        files[path('massifs', 'log')] = log.massif(massif, 4 * massif + 4);
        files[path('massifseals', 'sth')] = await log.seal(4 * massif + 4);
      }
      return { 'evidence.zip': zipSync(files) };
    };
    expect((await told(await bundle(FIRST)))[0]).toBe('incomplete');
    expect(await told(await bundle(SECOND))).toEqual(REFUSED);
  });

  it('copies in several files, of which each has other massifs', async () => {
    const copy = async (name: string, log: Log, massif: number, leaves = 4 * massif + 4) => {
      rig.file(`${name}/massifs/000000000000000${massif}.log`, log.massif(massif, leaves));
      rig.file(`${name}/massifseals/000000000000000${massif}.sth`, await log.seal(leaves));
      return join(rig.folder, name);
    };
    const one = await copy('one', FIRST, 1);
    expect(await ours(one, await copy('same', FIRST, 3))).toEqual(VERIFIED);
    const [next, later, shorter] = [
      await copy('next', SECOND, 2),
      await copy('later', SECOND, 3),
      await copy('shorter', SECOND, 1, 7),
    ];
    for (const other of [next, later, shorter])
      for (const given of [
        [one, other],
        [other, one],
      ])
        expect([other, await ours(...given)]).toEqual([other, REFUSED]);
    const event = await proven('held', SECOND, 6, 8);
    const files = Object.entries(event).map(([name, bytes]) => rig.file(name, bytes));
    expect(await ours(await copy('whole', FIRST, 3), ...files)).toEqual(REFUSED);
  });

  it('two signed roots of one size', async () => {
    const statements = await Promise.all(
      ['1', '2', '3'].map((step) => sampleStatement(sampleAttributes(SAMPLE_VCON, { step }))),
    );
    const [one, two, other] = statements as [Uint8Array, Uint8Array, Uint8Array];
    const whole = (statement: Uint8Array, rfc9162Receipt: Uint8Array) =>
      assembleTransparentStatement(statement, { rfc9162Receipt });
    const [ofOne, ofTwo] = (await statementLogReceipts([one, two])) as [Uint8Array, Uint8Array];
    const [, forked] = (await statementLogReceipts([other, two])) as [Uint8Array, Uint8Array];
    const first = { 'one.cose': whole(one, ofOne) };
    expect(await told({ ...first, 'two.cose': whole(two, ofTwo) })).toEqual(VERIFIED);
    expect(await told({ ...first, 'two.cose': whole(two, forked) })).toEqual(REFUSED);
  });

  it('one signed root, for which the log signed two sizes', async () => {
    const statement = await sampleStatement(sampleAttributes(SAMPLE_VCON));
    const beside = rfc9162Leaf(utf8('a tree or an entry'));
    const root = rfc9162Parent(0n, beside, rfc9162Leaf(statementEntry(statement)));
    const receipt = async (size: bigint) => {
      const signed = await signRoot(root, size, sampleSigners.statementLog, SAMPLE_STATEMENT_LOG);
      return attachRfc9162Inclusion(signed, size, size - 1n, [beside]);
    };
    const one = { 's.cose': statement, 'two.cose': await receipt(2n) };
    expect(await told(one)).toEqual(VERIFIED);
    expect(await told({ ...one, 'three.cose': await receipt(3n) })).toEqual(REFUSED);
  });

  it('a log that was forked openly is another one in each generation', async () => {
    const subject = `tenant/${SAMPLE_TENANCY}.1`;
    const fork = sampleSealedLog({ leaves: 8, subject, event: (leaf) => (leaf === 5 ? { operation: 'Other' } : {}) });
    const one = await proven('one', FIRST, 4, 8);
    expect(await told({ ...one, ...(await proven('other', fork, 5, 8)) })).toEqual(VERIFIED);
  });

  it('a copy of a forked log also shows what the seals in it say of the generation before', async () => {
    const fork = sampleSealedLog({ leaves: LEAVES, subject: `tenant/${SAMPLE_TENANCY}.1` });
    const changed = sampleSealedLog({ leaves: LEAVES, event: (leaf) => (leaf === 1 ? { operation: 'Other' } : {}) });
    const pairs = [
      [0, FIRST.massif(0, 4), await FIRST.seal(4)],
      [1, fork.massif(1, 8), await fork.seal(8)],
    ] as const;
    const [flat, nested]: Record<string, Uint8Array>[] = [{}, {}];
    for (const [number, massif, seal] of pairs) {
      Object.assign(flat!, { [`${number}.log`]: massif, [`${number}.sth`]: seal });
      nested![`log/tenant/${SAMPLE_TENANCY}/0/massifs/000000000000000${number}.log`] = massif;
      nested![`log/tenant/${SAMPLE_TENANCY}/0/massifseals/000000000000000${number}.sth`] = seal;
    }
    for (const [log, codes] of [
      [FIRST, []],
      [changed, ['consistency_invalid']],
    ] as const) {
      const event = await proven('one', log, 3, 8);
      expect((await told({ ...flat, ...event })).slice(1)).toEqual(codes);
      const inBundle = { 'event.json': event['one.json']!, 'tenancy-log-receipt.cose': event['one.cose']! };
      expect((await told({ 'evidence.zip': zipSync({ ...nested, ...inBundle }) })).slice(1)).toEqual(codes);
      const replica = zipSync(
        Object.fromEntries(Object.entries(nested!).map(([path, bytes]) => [path.slice(4), bytes])),
      );
      const files = Object.entries({ ...event, 'log.zip': replica });
      expect((await ours(...files.map(([path, bytes]) => rig.file(path, bytes)))).slice(1)).toEqual(codes);
    }
    const other = await proven('one', changed, 1, 8);
    expect((await told({ ...flat, ...other }))[0]).toBe('refused');
  });
});
