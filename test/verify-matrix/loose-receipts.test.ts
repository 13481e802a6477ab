import { describe, expect, it } from 'vitest';
import { concatBytes, utf8 } from '../../src/core/bytes.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { attachRfc9162Consistency, signRoot } from '../../src/core/receipt/rfc9162-receipt.js';
import {
  logged,
  SAMPLE_STATEMENT_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';
import type { PythonAnswer } from './python-verifier.js';

const { judged } = bothVerifiers('loose-receipts');

const short = ({ outcome, claims = [], contradictions = [] }: PythonAnswer) => [
  outcome,
  ...claims.map(({ kind }) => kind).sort(),
  ...contradictions.map(({ code }) => code),
];

/** The outcome, the kinds of claims and the refusals, which both verifiers must answer alike. */
async function told(files: GivenFiles): Promise<readonly string[]> {
  return short(await judged<PythonAnswer>(files, short));
}

const attributes = sampleAttributes(SAMPLE_VCON);
const statement = await sampleStatement(attributes);
const receipt = await statementLogReceipt(statement);
const foreign = await statementLogReceipt(statement, sampleSigners.stranger);
const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));

/** The statement with these receipts in it, or without the list, and with the event if told. */
function carrying(receipts: Uint8Array[] | undefined, withEvent = false): Uint8Array {
  const header = new Map<number | string, string | Uint8Array[]>();
  if (receipts) header.set(394, receipts);
  if (withEvent) header.set('event', JSON.stringify(event));
  return encodeSign1({ ...decodeSign1(statement), unprotectedHeader: header });
}

describe('a transparent statement without a receipt in it', () => {
  it.each([
    ['an empty list', carrying([])],
    ['no list and an event', carrying(undefined, true)],
  ])('is proven by the receipts beside it: with %s', async (_, bytes) => {
    const alone = { 'a.cose': bytes };
    expect((await told(alone))[0]).toBe('incomplete');
    const hasEvent = decodeSign1(bytes).unprotectedHeader.has('event');
    const receipts = { 'b.cose': receipt, ...(hasEvent ? { 'c.cose': mmrReceipt } : {}) };
    expect(await told({ ...alone, ...receipts })).toEqual(['verified', ...(hasEvent ? ['event'] : []), 'statement']);
  });

  it('and its event stay unproven in the part whose receipt is not given', async () => {
    const [both, ...parts] = [
      { 'b.cose': receipt, 'c.cose': mmrReceipt },
      { 'b.cose': receipt },
      { 'c.cose': mmrReceipt },
    ];
    for (const part of parts) expect((await told({ 'a.cose': carrying([], true), ...part }))[0]).toBe('incomplete');
    expect((await told({ 'a.cose': carrying([receipt], true), 'c.cose': mmrReceipt }))[0]).toBe('verified');
    expect((await told({ 'a.cose': carrying([mmrReceipt], true), 'b.cose': receipt }))[0]).toBe('verified');
    expect((await told({ 'a.cose': carrying([], true), 'e.json': utf8(JSON.stringify(event)), ...both }))[0]).toBe(
      'verified',
    );
  });

  it('is refused with a receipt beside it that is wrong', async () => {
    const [outcome, ...rest] = await told({ 'a.cose': carrying([]), 'b.cose': foreign });
    expect([outcome, rest.at(-1)]).toEqual(['refused', 'log_key_not_trusted']);
  });
});

it('a damaged receipt is refused, also if what it is for is not given', async () => {
  for (const whole of [receipt, mmrReceipt]) {
    expect((await told({ 'b.cose': whole }))[0]).toBe('incomplete');
    const attached = encodeSign1({ ...decodeSign1(whole), payload: new Uint8Array(32) });
    expect(await told({ 'b.cose': attached })).toEqual(['refused', 'malformed']);
  }
});

it('what is not tag 18 around an array is no message', async () => {
  const files = { 'a.cose': carrying([receipt]), 'b.cose': concatBytes(Uint8Array.of(0xd2), statement) };
  expect((await told(files))[0]).toBe('refused');
  expect((await told({ 'b.cose': files['b.cose'] }))[0]).toBe('unreadable');
});

it('a receipt of consistency proves no entry and contradicts none, in a statement and beside it', async () => {
  const root = await signRoot(new Uint8Array(32), 2n, sampleSigners.statementLog, SAMPLE_STATEMENT_LOG);
  const consistency = attachRfc9162Consistency(root, 1n, 2n, [new Uint8Array(32)]);
  expect((await told({ 'a.cose': carrying([consistency]) }))[0]).toBe('incomplete');
  expect((await told({ 'a.cose': carrying([receipt]), 'b.cose': consistency }))[0]).toBe('incomplete');
  const none = encodeSign1({ ...decodeSign1(consistency), unprotectedHeader: new Map([[396, new Map()]]) });
  expect((await told({ 'a.cose': carrying([none]) }))[0]).toBe('refused');
});

it('a wrong receipt in a transparent statement does not count beside a right one, in it or in another file', async () => {
  const wrong = (await logged(sampleAssetEvent(attributes), sampleSigners.stranger)).mmrReceipt;
  expect(await told({ 'a.cose': carrying([foreign]) })).toEqual(['refused', 'statement', 'log_key_not_trusted']);
  for (const [receipts, ...beside] of [
    [[foreign], receipt],
    [[foreign, mmrReceipt], receipt],
    [[receipt, wrong], mmrReceipt],
    [[foreign, wrong], receipt, mmrReceipt],
  ] as const) {
    const withEvent = receipts.length > 1;
    const files = Object.fromEntries(beside.map((bytes, at) => [`b${at}.cose`, bytes]));
    const given = { 'a.cose': carrying([...receipts], withEvent), ...files };
    expect(await told(given)).toEqual(['verified', ...(withEvent ? ['event'] : []), 'statement']);
    expect((await told({ 'a.cose': given['a.cose'] }))[0]).toBe('refused');
  }
});

it('a receipt beside a transparent statement that has one of its own proves its statement or event once more', async () => {
  const whole = { 'a.cose': carrying([receipt, mmrReceipt], true) };
  expect(await told(whole)).toEqual(['verified', 'event', 'statement']);
  expect(await told({ ...whole, 'm.cose': mmrReceipt })).toEqual(['verified', 'event', 'event', 'statement']);
  expect(await told({ ...whole, 'r.cose': receipt })).toEqual(['verified', 'entry', 'event', 'statement']);
});

it('a statement or event beside a transparent statement that proves it is proven, and refused if it differs', async () => {
  const whole = { 'a.cose': carrying([receipt, mmrReceipt], true) };
  const beside = (other: object) => told({ ...whole, 'e.json': utf8(JSON.stringify(other)) });
  expect(await told({ ...whole, 's.cose': statement })).toEqual(['verified', 'event', 'statement', 'statement']);
  expect(await beside(event)).toEqual(['verified', 'event', 'event', 'statement']);
  const { commit } = event.merklelog_entry;
  for (const other of [
    { ...event, operation: 'Changed' },
    { ...event, identity: `public${event.identity}` },
    { ...event, merklelog_entry: { commit: { ...commit, index: '3' } } },
  ])
    expect(await beside(other)).toEqual(['refused', 'event', 'statement', 'event_mismatch']);
});

describe('an event that no log holds yet', () => {
  const served = { ...event, merklelog_entry: { commit: null, confirm: null, unequivocal: null } };
  const free = sampleAssetFreeEvent(attributes);
  it.each([
    ['of an asset', served],
    ['without an asset', { ...free, merklelog_commit: { index: '0', idtimestamp: '' } }],
    ['without an asset and a commit', { ...free, merklelog_commit: null }],
  ])('is unproven and not refused: %s', async (_, pending) => {
    const file = { 'e.json': utf8(JSON.stringify(pending)) };
    expect(await told(file)).toEqual(['incomplete']);
    expect(await told({ ...file, 'a.cose': statement, 'b.cose': receipt })).toEqual(['incomplete', 'statement']);
    const { idtimestamp: _time, ...cut } = free.merklelog_commit;
    expect((await told({ 'e.json': utf8(JSON.stringify({ ...free, merklelog_commit: cut })) }))[0]).toBe('refused');
  });
});
