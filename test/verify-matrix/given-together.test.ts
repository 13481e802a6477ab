import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { completeBundle } from '../../src/core/bundle/complete-bundle.js';
import { ZIP_TIME } from '../../src/core/bundle/zip-time.js';
import { concatBytes, toHex, utf8 } from '../../src/core/bytes.js';
import { sha256 } from '../../src/core/sha256.js';
import { assembleTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { keySet } from '../cli/verify-rig.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_TENANCY,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from '../core/verify/sample-transparent-statement.js';
import { bothVerifiers } from './both-verifiers.js';
import type { GivenFiles } from './matrix-rows.js';
import type { PythonAnswer } from './python-verifier.js';

const { judged } = bothVerifiers('given-together');

const short = ({ outcome, claims = [], contradictions = [] }: PythonAnswer) => [
  outcome,
  ...new Set(claims.map(({ kind }) => kind).sort()),
  ...contradictions.map(({ code }) => code),
];

/** The outcome, the kinds of claims and the refusals, which both verifiers must answer alike. */
async function told(files: GivenFiles, issuer?: string): Promise<readonly string[]> {
  return short(await judged<PythonAnswer>(files, short, issuer === undefined ? {} : { issuer }));
}

const attributes = sampleAttributes(SAMPLE_VCON);
const statement = await sampleStatement(attributes);
const rfc9162Receipt = await statementLogReceipt(statement);
const { event, mmrReceipt } = await logged(sampleAssetEvent(attributes));
const parts = { rfc9162Receipt, mmrReceipt, event };
const eventJson = utf8(JSON.stringify(event));
const whole = { 'event.json': eventJson, 'tenancy-log-receipt.cose': mmrReceipt };
const zipped = (files: GivenFiles) => zipSync(files, { mtime: ZIP_TIME });
const operations = [{ number: 1, folder: '', identity: event.identity }];
const bundleOf = (files: GivenFiles) => zipped(completeBundle(files, operations, false));
const bundle = bundleOf({ ...whole, 'transparent-statement.cose': assembleTransparentStatement(statement, parts) });

describe('what is beside a bundle', () => {
  const stranger = async () => statementLogReceipt(statement, sampleSigners.stranger);

  it('is checked too', async () => {
    expect(await told({ 'a.zip': bundle })).toEqual(['verified', 'event', 'statement']);
    expect((await told({ 'a.zip': bundle, 'r.cose': await stranger(), 's.cose': statement }))[0]).toBe('refused');
    const other = await sampleStatement(sampleAttributes(utf8('{"vcon": "0.3.0"}')));
    expect((await told({ 'a.zip': bundle, 's.cose': other }))[0]).toBe('incomplete');
    expect((await told({ 'a.zip': bundle, 'm.log': sampleSealedLog({ leaves: 1 }).massif(0) }))[0]).toBe('incomplete');
  });

  it('is compared with the events in it', async () => {
    const changed = { ...event, event_attributes: { ...attributes, note: 'changed' } };
    const answer = await told({ 'a.zip': bundle, 'e.json': utf8(JSON.stringify(changed)) });
    expect([answer[0], answer.at(-1)]).toEqual(['refused', 'event_mismatch']);
  });

  it('may be another bundle, and the document of either', async () => {
    const second = bundleOf(whole);
    const answer = await told({ 'a.zip': second, 'b.zip': bundle, 'call.json': SAMPLE_VCON });
    expect(answer).toEqual(['verified', 'document', 'event', 'statement']);
    const bad = bundleOf({ ...whole, 'tenancy-log-receipt.cose': rfc9162Receipt });
    expect((await told({ 'a.zip': bundle, 'b.zip': bad }))[0]).toBe('refused');
  });
});

describe('a zip that programs may read differently', () => {
  const end = bundle.length - 22;
  const withByte = (at: number, byte: number) => {
    const changed = bundle.slice();
    changed[at] = byte;
    return changed;
  };
  const view = new DataView(bundle.buffer, bundle.byteOffset);
  const directory = view.getUint32(end + 16, true);
  it.each([
    ['bytes before it', concatBytes(utf8('MZ'), bundle)],
    ['bytes behind it', concatBytes(bundle, utf8('x'))],
    ['a comment', concatBytes(withByte(end + 20, 1), utf8('x'))],
    ['an entry that is not counted', (() => withByte(end + 10, bundle[end + 10]! - 1))()],
    ['an encrypted entry', withByte(directory + 8, 1)],
    ['a symbolic link', withByte(directory + 41, 0xa1)],
    ['another name before the data', withByte(30, 0x58)],
    ['another size in the directory', withByte(directory + 24, bundle[directory + 24]! ^ 1)],
    ['names that some file systems do not keep apart', zipped({ ...whole, 'k.txt': utf8('a'), 'K.txt': utf8('b') })],
    ['a name with a long s', zipped({ ...whole, 's.txt': utf8('a'), 'ſ.txt': utf8('b') })],
    ['a name that ends in a dot', zipped({ ...whole, 'x.': utf8('a') })],
  ])('is unreadable: with %s', async (_, zip) => {
    expect(await told({ 'a.zip': zip })).toEqual(['unreadable']);
  });
});

describe('an event without its statement under a pinned issuer', () => {
  const other = SAMPLE_ISSUER.replace(SAMPLE_TENANCY, '9f4b1d8a-0000-4000-8000-000000000000');
  it.each([
    ['in files', { 'e.json': eventJson, 'r.cose': mmrReceipt }],
    ['in a bundle', { 'a.zip': bundleOf(whole) }],
  ])('is of the tenancy and the service that the issuer names: %s', async (_, files) => {
    expect((await told(files, SAMPLE_ISSUER))[0]).toBe('verified');
    expect((await told(files, SAMPLE_ISSUER.replace('archive.example', 'partner.example')))[0]).toBe('incomplete');
    expect(await told(files, other)).toEqual(['refused', 'event', 'issuer_key_not_trusted']);
  });
});

describe('a document that calls itself another vCon than the evidence', () => {
  const uuid = '9f4b1d8a-0000-4000-8000-000000000000';
  const plain = `{"vcon": "0.3.0", "uuid": "${uuid}"}`;
  const payload = Buffer.from(plain).toString('base64url');
  it.each([
    ['a plain one', plain],
    ['a signed one', `{"payload": "${payload}", "signatures": [{"header": {}}]}`],
    ['an encrypted one', `{"ciphertext": "x", "recipients": [], "unprotected": {"uuid": "${uuid}"}}`],
  ])('is unproven: %s', async (_, text) => {
    const about = await logged(sampleAssetEvent(sampleAttributes(utf8(text))));
    const files = { 'e.json': utf8(JSON.stringify(about.event)), 'r.cose': about.mmrReceipt, 'call.json': utf8(text) };
    expect(await told(files)).toEqual(['incomplete', 'document', 'event']);
  });
});

describe('the kind of a file', () => {
  const proven = { 'e.json': eventJson, 'r.cose': mmrReceipt };
  const keys = utf8(keySet(sampleSigners.stranger));

  it('is that of its JSON in UTF-8, whatever members are added', async () => {
    expect((await told({ ...proven, 'e.json': Buffer.from(`\ufeff${JSON.stringify(event)}`, 'utf16le') }))[0]).toBe(
      'incomplete',
    );
    expect((await told({ ...proven, 'l.json': utf8('{"events": [], "vcon": 1}') }))[0]).toBe('refused');
    expect((await told({ ...proven, 'x.json': utf8('{"events": [1], "more": 1}') }))[0]).toBe('refused');
  });

  it('is a set of keys, which may be meant as the document', async () => {
    expect((await told({ ...proven, 'keys.json': keys }))[0]).toBe('incomplete');
    expect((await told({ ...proven, 'keys.json': keys, 'call.json': SAMPLE_VCON }))[0]).toBe('verified');
  });

  it('is a document where other evidence names its hash', async () => {
    const about = await logged(sampleAssetEvent(sampleAttributes(keys, { payload: toHex(sha256(keys)) })));
    const files = { 'e.json': utf8(JSON.stringify(about.event)), 'r.cose': about.mmrReceipt };
    expect(await told({ ...files, 'keys.json': keys })).toEqual(['verified', 'document', 'event']);
  });
});
