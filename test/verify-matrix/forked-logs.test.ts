import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { bundleIndex, encodeBundleIndex, INDEX_PATH } from '../../src/core/bundle/bundle-index.js';
import { utf8 } from '../../src/core/bytes.js';
import type { AssetEventDocument } from '../../src/core/statement/event-document.js';
import { type SampleSealedLog, sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY } from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';
import type { PythonAnswer } from './python-verifier.js';

const { judged } = bothVerifiers('forked-logs');

const short = ({ outcome, contradictions = [] }: PythonAnswer) => [outcome, ...contradictions.map(({ code }) => code)];

/** The outcome and the refusals, which both verifiers must answer alike. */
async function told(files: GivenFiles): Promise<readonly string[]> {
  return short(await judged<PythonAnswer>(files, short));
}

/** Three leaves are shared; the fork statement's place is leaf 3, and leaves 4 and later are the generation's own. */
const SHARED = 3;
const MS = 1n << 24n;
const FIRST = 0x9470003611017900n;

/** A later generation of the log: other events, at later times, behind the shared leaves. */
function forkedLog(generation: number, more: (leaf: number) => Partial<AssetEventDocument> = () => ({})) {
  const at = (leaf: number) => FIRST + (BigInt(leaf) + (leaf < SHARED ? 0n : BigInt(1000 * generation))) * MS;
  const identity = (leaf: number) =>
    `assets/0192e8f5-1111-7000-8000-000000000001/events/0192e8f5-${generation}222-7000-9000-${String(leaf).padStart(12, '0')}`;
  return sampleSealedLog({
    leaves: 8,
    subject: `tenant/${SAMPLE_TENANCY}.${generation}`,
    idAt: at,
    event: (leaf) => ({ ...(leaf < SHARED ? {} : { identity: identity(leaf) }), ...more(leaf) }),
    trieIdentity: (event) => (event.identity === identity(SHARED) ? 'forks/1' : event.identity),
  });
}

const before = sampleSealedLog({ leaves: 8 });
const after = forkedLog(1);
const json = (event: object) => utf8(JSON.stringify(event));
const copy = async (log: SampleSealedLog, massif: number, name: string): Promise<GivenFiles> => ({
  [`${name}.log`]: log.massif(massif),
  [`${name}.sth`]: await log.seal(),
});
/** Leaf 5 is in massif 1, of which every generation has its own. */
const lost = before.events[5]!;
const changed = (event: AssetEventDocument): AssetEventDocument => ({ ...event, operation: 'Changed' });
const LEAF = ['refused', 'leaf_mismatch'];

describe('an event that an open fork lost', () => {
  it('stays proven by its receipt beside the copy of the next generation', async () => {
    const files = { 'e.json': json(lost), 'r.cose': await before.receipt(5) };
    expect(await told(files)).toEqual(['verified']);
    const next = { ...(await copy(after, 1, 'n')), 'm.log': after.massif(0, 4), 'm.sth': await after.seal(4) };
    expect(await told({ ...files, ...next })).toEqual(['verified']);
  });

  it('is unproven beside a massif of the next generation that does not show where the log was forked', async () => {
    const files = { 'e.json': json(lost), 'r.cose': await before.receipt(5) };
    expect(await told({ ...files, ...(await copy(after, 1, 'm')) })).toEqual(['incomplete']);
  });

  it('and one of the next generation stay proven beside the copy of the one before', async () => {
    const files = { 'e.json': json(after.events[5]!), 'r.cose': await after.receipt(5) };
    expect(await told({ ...files, ...(await copy(before, 1, 'm')) })).toEqual(['verified']);
  });

  it('is unproven, and not refused, with the copy of the next generation and nothing else', async () => {
    expect(await told({ 'e.json': json(lost), ...(await copy(after, 1, 'm')) })).toEqual(['incomplete']);
  });

  it('is not refused in its bundle, whichever generation the log file in the bundle is of', async () => {
    const bundle = async (event: AssetEventDocument, receipt?: Uint8Array, log = after) => {
      const at = `log/tenant/${SAMPLE_TENANCY}/0/`;
      const files = {
        'event.json': json(event),
        ...(receipt && { 'tenancy-log-receipt.cose': receipt }),
        [`${at}massifs/0000000000000001.log`]: log.massif(1),
        [`${at}massifseals/0000000000000001.sth`]: await log.seal(),
      };
      const operation = { number: 1, folder: '', identity: event.identity };
      return { 'b.zip': zipSync({ ...files, [INDEX_PATH]: encodeBundleIndex(bundleIndex(files, [operation])) }) };
    };
    expect(await told(await bundle(lost, await before.receipt(5)))).toEqual(['incomplete']);
    expect(await told(await bundle(lost))).toEqual(['incomplete']);
    expect(await told(await bundle(changed(after.events[5]!)))).toEqual(LEAF);
    expect(await told(await bundle(changed(lost), undefined, before))).toEqual(LEAF);
  });
});

describe('an event that was changed', () => {
  it('is refused with the copy of its own generation, whether that is the first or a later one', async () => {
    for (const log of [before, after]) {
      const files = await copy(log, 1, 'm');
      expect(await told({ 'e.json': json(changed(log.events[5]!)), ...files })).toEqual(LEAF);
      expect(await told({ 'e.json': json({ ...changed(log.events[5]!), identity: lost.identity }), ...files })).toEqual(
        LEAF,
      );
    }
  });

  it('is refused with the copy of any generation if another leaf of the same generation is there', async () => {
    const other = sampleSealedLog({ leaves: 8, event: (leaf) => (leaf < 5 ? {} : { operation: 'Other' }) });
    const files = { 'e.json': json(lost), 'r.cose': await before.receipt(5), ...(await copy(other, 1, 'm')) };
    expect((await told(files))[0]).toBe('refused');
  });

  it('is refused at a place that the fork shares with the log before it', async () => {
    const rewritten = forkedLog(1, (leaf) => (leaf === 2 ? { operation: 'Rewritten' } : {}));
    const files = { 'e.json': json(before.events[2]!), 'r.cose': await before.receipt(2) };
    const first = async (log: SampleSealedLog) => ({ 'm.log': log.massif(0, 4), 'm.sth': await log.seal(4) });
    expect(await told({ ...files, ...(await first(after)) })).toEqual(['verified']);
    expect(await told({ ...files, ...(await first(rewritten)) })).toEqual(LEAF);
  });

  it('is refused at such a place also if a later massif has the fork statement', async () => {
    const rewritten = sampleSealedLog({
      leaves: 8,
      subject: `tenant/${SAMPLE_TENANCY}.1`,
      event: (leaf) => (leaf === 2 ? { operation: 'Rewritten' } : {}),
      trieIdentity: (event) => (event.identity === before.events[5]!.identity ? 'forks/1' : event.identity),
    });
    const files = { 'e.json': json(before.events[2]!), 'r.cose': await before.receipt(2) };
    const first = { 'm.log': rewritten.massif(0, 4), 'm.sth': await rewritten.seal(4) };
    expect(await told({ ...files, ...first })).toEqual(['incomplete']);
    expect(await told({ ...files, ...first, ...(await copy(rewritten, 1, 'n')) })).toEqual(LEAF);
  });
});
