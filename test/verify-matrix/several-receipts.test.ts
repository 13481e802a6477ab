import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { toBase64, utf8 } from '../../src/core/bytes.js';
import { type CborMap, type CborValue, encodeCbor } from '../../src/core/cose/cbor.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { attachRfc9162Consistency, signRoot } from '../../src/core/receipt/rfc9162-receipt.js';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_STATEMENT_LOG,
  SAMPLE_SUBJECT,
  SAMPLE_TENANCY,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
  statementLogReceipts,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';

const { rig, judged } = bothVerifiers('several-receipts');
const { statementLog, sealer, stranger } = sampleSigners;

interface Answer {
  readonly outcome: string;
  readonly claims?: readonly { readonly kind: string; readonly by: readonly { readonly vds?: number }[] }[];
  readonly contradictions?: readonly { readonly code: string; readonly piece: string }[];
  readonly not_covered?: readonly { readonly piece: string; readonly why: string; readonly detail?: string }[];
}

/** The outcome, the claims, the refusals and how many receipts do not count: both verifiers must say the same. */
const short = ({ outcome, claims = [], contradictions = [], not_covered = [] }: Answer) => ({
  outcome,
  claims: [...new Set(claims.map(({ kind }) => kind))].sort(),
  codes: contradictions.map(({ code }) => code),
  // What is there twice is listed once by one of them.
  notes: [
    ...new Set(not_covered.filter(({ why }) => why === 'explanation').map(({ piece }) => piece.split('/').at(-1))),
  ],
});
const told = async (files: GivenFiles) => short(await judged<Answer>(files, short));
const outcomeOf = async (...receipts: CborValue[]) => {
  const { outcome, codes } = await told({ 'a.cose': carrying(receipts) });
  return [outcome, ...codes].join(' ');
};

const attributes = sampleAttributes(SAMPLE_VCON);
const statement = await sampleStatement(attributes);
const otherStatement = await sampleStatement(sampleAttributes(utf8('another vCon')));
const good = await statementLogReceipt(statement);
const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));

function carrying(receipts: CborValue, frozen?: object, of = statement): Uint8Array {
  const header: CborMap = new Map<number | string, CborValue>([[394, receipts]]);
  if (frozen) header.set('event', JSON.stringify(frozen));
  return encodeSign1({ ...decodeSign1(of), unprotectedHeader: header });
}

function withSignature(receipt: Uint8Array, signature: Uint8Array): Uint8Array {
  return encodeSign1({ ...decodeSign1(receipt), signature });
}

const someRoot = await signRoot(new Uint8Array(32), 2n, statementLog, SAMPLE_STATEMENT_LOG);
const unknownStructure = encodeSign1({
  protectedBytes: encodeCbor(
    new Map<number, CborValue>([
      [1, -7],
      [395, 2],
    ]),
  ),
  unprotectedHeader: new Map(),
  payload: null,
  signature: new Uint8Array(64),
});

/** Receipts that prove nothing of the statement, with what each says if it is the only one. */
const BAD: Readonly<Record<string, readonly [receipt: CborValue, alone: string]>> = {
  'by a log that nobody trusts': [await statementLogReceipt(statement, stranger), 'refused log_key_not_trusted'],
  'under the name of the trusted key, by another one': [
    withSignature(good, decodeSign1(await statementLogReceipt(statement, stranger)).signature),
    'refused receipt_signature_invalid',
  ],
  'that verifies, but for another statement': [
    await statementLogReceipt(otherStatement),
    'refused receipt_signature_invalid',
  ],
  'with a signature of no form': [withSignature(good, new Uint8Array(3)), 'refused signature_malformed'],
  'without a proof': [someRoot, 'refused malformed'],
  'of consistency': [attachRfc9162Consistency(someRoot, 1n, 2n, [new Uint8Array(32)]), 'incomplete'],
  'of an unknown structure': [unknownStructure, 'incomplete'],
  'that is no message': [Uint8Array.of(1, 2, 3), 'refused malformed'],
  'that is empty': [new Uint8Array(), 'refused malformed'],
  'that is a text': ['receipt', 'refused malformed'],
};

describe('a statement with several receipts', () => {
  it.each(Object.entries(BAD))(
    'is registered by the good one beside one %s, in either order',
    async (_, [bad, alone]) => {
      expect(await outcomeOf(bad)).toBe(alone);
      for (const receipts of [
        [good, bad],
        [bad, good],
      ])
        expect(await told({ 'a.cose': carrying(receipts) })).toEqual({
          outcome: 'verified',
          claims: ['statement'],
          codes: [],
          notes: ['statement_log_receipt'],
        });
    },
  );

  it('names each receipt that does not count, with its place and its result, and exits with 0', async () => {
    const bad = Object.values(BAD).map(([receipt]) => receipt);
    const path = rig.file('all.cose', carrying([...bad.slice(0, 4), good, ...bad.slice(4)]));
    const { out, exitCode } = await rig.verify(path);
    expect([exitCode, out.split('\n')[0]]).toEqual([0, expect.stringMatching(/^VERIFIED\./)]);
    for (const place of [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]) expect(out).toContain(`receipt ${place} does not count: `);
    expect(out).not.toContain('receipt 5 does not count');
    expect(out).toContain(
      '/statement_log_receipt (not evidence: receipt 1 does not count: the statement-log receipt is not signed by any of the given keys [log_key_not_trusted])',
    );
    expect(out).toMatch(/receipt 3 does not count: .* \[receipt_signature_invalid\]/);
  });

  it('is not registered if none is good, and says what the most telling one says, in whatever order', async () => {
    const [foreign, forged, , , unproven, consistency, unknown, garbage] = Object.values(BAD).map(([each]) => each);
    for (const [expected, ...receipts] of [
      ['refused receipt_signature_invalid', foreign!, forged!],
      ['refused receipt_signature_invalid', garbage!, foreign!, unknown!, forged!],
      ['refused malformed', foreign!, unproven!],
      ['incomplete', foreign!, consistency!],
      ['refused log_key_not_trusted', unknown!, foreign!],
    ] as const)
      for (const order of [receipts, receipts.toReversed()]) expect(await outcomeOf(...order)).toBe(expected);
  });

  it('shows every receipt that verifies: another log may hold it too', async () => {
    const inOther = await statementLogReceipt(statement, statementLog, { issuer: 'https://b.example', subject: 'b' });
    const { claims } = await judged<Answer>({ 'a.cose': carrying([good, inOther]) }, short);
    expect(claims!.map(({ by }) => by.length)).toEqual([3]);
  });

  it('is refused if two that verify show two histories of one log: that nobody can add but the log', async () => {
    const [, forked] = (await statementLogReceipts([otherStatement, statement])) as [Uint8Array, Uint8Array];
    const [, same] = (await statementLogReceipts([statement, statement])) as [Uint8Array, Uint8Array];
    for (const order of [
      [good, forked],
      [forked, good],
    ])
      expect(await told({ 'a.cose': carrying(order) })).toMatchObject({
        outcome: 'refused',
        codes: expect.arrayContaining(['consistency_invalid']),
      });
    const [first] = (await statementLogReceipts([statement, statement])) as [Uint8Array];
    expect(await outcomeOf(first, same)).toBe('verified');
  });

  it('has at most 16 receipts: with more it is incomplete, and none is checked', async () => {
    const [[bad]] = Object.values(BAD) as [readonly [CborValue, string]];
    expect(await outcomeOf(...Array<CborValue>(15).fill(bad), good)).toBe('verified');
    expect(await outcomeOf(...Array<CborValue>(16).fill(bad), good)).toBe('incomplete');
  });

  it('is damaged if they are no list', async () => {
    expect((await told({ 'a.cose': carrying(good) })).codes).toEqual(['malformed']);
  });
});

describe('the event of a statement with several receipts', async () => {
  const strange = (await logged(sampleAssetEvent(attributes), stranger)).mmrReceipt;
  const ofOther = (await logged(sampleAssetEvent({ ...attributes, vcon_operation: 'vcon_deleted' }))).mmrReceipt;
  const elsewhere = { ...SAMPLE_TENANCY_LOG, subject: 'tenant/9f4b1d8a-0000-4000-8000-000000000000' };
  const inOtherLog = (await logged(sampleAssetEvent(attributes), sealer, elsewhere)).mmrReceipt;

  it.each([
    ['by a log that nobody trusts', strange, 'log_key_not_trusted'],
    ['that verifies, but for another event', ofOther, 'receipt_signature_invalid'],
    ['of the log of another tenancy', inOtherLog, 'log_mismatch'],
  ])('is proven by the good one beside one %s, in either order', async (_, bad, code) => {
    expect((await told({ 'a.cose': carrying([good, bad], event) })).codes).toEqual([code]);
    for (const receipts of [
      [good, mmrReceipt, bad],
      [bad, mmrReceipt, good],
    ])
      expect(await told({ 'a.cose': carrying(receipts, event) })).toEqual({
        outcome: 'verified',
        claims: ['event', 'statement'],
        codes: [],
        notes: ['tenancy_log_receipt'],
      });
  });

  it('is of the service of every receipt that verifies: what one of them forbids is refused, in either order', async () => {
    const moved = { ...SAMPLE_TENANCY_LOG, issuer: 'https://moved.example' };
    const own = await logged(sampleAssetEvent(attributes));
    const elsewhere = (await logged(sampleAssetEvent(attributes), sealer, moved)).mmrReceipt;
    for (const receipts of [
      [good, own.mmrReceipt, elsewhere],
      [elsewhere, good, own.mmrReceipt],
    ]) {
      const { claims } = await judged<Answer>({ 'a.cose': carrying(receipts, own.event) }, short);
      expect(claims!.map(({ by }) => by.length)).toEqual([2, 2]);
    }
    // A tenancy of a service cannot have its statements registered by another one of the same service.
    const issuer = SAMPLE_ISSUER.replace(SAMPLE_TENANCY, '9f4b1d8a-0000-4000-8000-000000000000');
    const theirs = await sampleStatement(attributes, undefined, issuer);
    const event = sampleAssetEvent({ signed_statement: toBase64(theirs), subject: SAMPLE_SUBJECT, issuer });
    const [here, there] = [await logged(event), (await logged(event, sealer, moved)).mmrReceipt];
    const receipt = await statementLogReceipt(theirs);
    const outcome = async (...receipts: Uint8Array[]) =>
      (await told({ 'a.cose': carrying([receipt, ...receipts], here.event, theirs) })).outcome;
    expect(await outcome(there)).toBe('verified');
    for (const receipts of [[here.mmrReceipt], [here.mmrReceipt, there], [there, here.mmrReceipt]])
      expect(await outcome(...receipts)).toBe('refused');
  });

  it('is refused if it was changed, whatever is beside its receipts', async () => {
    const changed = { ...event, timestamp_accepted: '2019-01-16T16:12:39Z' };
    for (const receipts of [
      [good, mmrReceipt, strange],
      [strange, good, mmrReceipt],
    ]) {
      const { outcome, claims, codes } = await told({ 'a.cose': carrying(receipts, changed) });
      expect([outcome, claims, codes]).toEqual(['refused', ['statement'], ['receipt_signature_invalid']]);
    }
  });

  it('is refused by what only a trusted log can have signed before what anybody can add', async () => {
    for (const receipts of [
      [good, inOtherLog, ofOther, strange],
      [strange, ofOther, inOtherLog, good],
    ])
      expect((await told({ 'a.cose': carrying(receipts, event) })).codes).toEqual(['log_mismatch']);
  });

  it('is not there: then a receipt of a tenancy log proves nothing, and changes nothing', async () => {
    for (const receipt of [mmrReceipt, strange])
      expect(await told({ 'a.cose': carrying([receipt, good]) })).toEqual({
        outcome: 'verified',
        claims: ['statement'],
        codes: [],
        notes: ['tenancy_log_receipt'],
      });
    expect((await told({ 'a.cose': carrying([mmrReceipt]) })).outcome).toBe('incomplete');
  });
});

describe('a bundle whose transparent statement got another receipt', async () => {
  const foreign = await statementLogReceipt(statement, stranger);
  const bundle = (receipts: Uint8Array[], repeated: Uint8Array) => ({
    'evidence.zip': zipSync({
      'event.json': utf8(JSON.stringify(event)),
      'transparent-statement.cose': carrying([...receipts, mmrReceipt], event),
      'signed-statement.cose': statementEntry(statement),
      'statement-log-receipt.cose': repeated,
      'tenancy-log-receipt.cose': mmrReceipt,
    }),
  });

  it('is as proven as before, and refused only if its receipt’s own file is not a good one', async () => {
    // Without an index, how many operations there were is unknown.
    expect(await told(bundle([good], good))).toMatchObject({ outcome: 'incomplete', codes: [] });
    for (const receipts of [
      [good, foreign],
      [foreign, good],
    ]) {
      expect(await told(bundle(receipts, good))).toMatchObject({ outcome: 'incomplete', codes: [] });
      expect((await told(bundle(receipts, foreign))).codes).toEqual(['log_key_not_trusted']);
    }
    const another = await statementLogReceipt(statement);
    expect((await told(bundle([good, foreign], another))).codes).toEqual(['bundle_mismatch']);
  });
});
