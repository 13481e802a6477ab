import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { type CborValue, decodeCbor, decodeCborSequence, encodeCbor } from '../../src/core/cose/cbor.js';
import { Header } from '../../src/core/cose/labels.js';
import { rsaNumbers } from '../../src/core/cose/rsa-key.js';
import { checkAttributes } from '../../src/core/event/attribute-rules.js';
import { judgeBundleFiles, MOST_FILES } from '../../src/core/evidence/open-bundle.js';
import { type LogFork, signForkStatement } from '../../src/core/fork/fork-statement.js';
import { readForkStatement } from '../../src/core/fork/read-fork-statement.js';
import { LAST_TIME_MS } from '../../src/core/last-time.js';
import { nextIdtimestamp } from '../../src/core/massif/idtimestamp.js';
import { decodeMassifStart, encodeMassifStart } from '../../src/core/massif/massif-start.js';
import { requireHashes } from '../../src/core/mmr/require-hashes.js';
import { proofPath } from '../../src/core/receipt/receipt-proof.js';
import { decodeSealPayload, encodePublishedState } from '../../src/core/receipt/seal.js';
import { attachedReceipts } from '../../src/core/statement/transparent-statement.js';
import { decodeNote, encodeNote, NoteKeyType, signatureLine } from '../../src/core/tlog/signed-note.js';
import { decodeTlogProof, encodeTlogProof } from '../../src/core/tlog/tlog-proof.js';
import { storable } from '../../src/core/vcon/conserver-forms.js';
import { type JsonObject, readJson } from '../../src/core/vcon/json-document.js';
import { asSubmitted } from '../../src/core/vcon/submitted-form.js';
import { parseUnambiguousJson } from '../../src/core/vcon/unambiguous-json.js';
import { sampleFork } from './fork/sample-forks.js';
import { sampleRoot } from './keys/sample-manifests.js';

const HASH = new Uint8Array(32);
const many = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const nested = (levels: number): CborValue => (levels === 0 ? 0 : [nested(levels - 1)]);
const attributes = (count: number) => Object.fromEntries(many(count, 'v').map((value, place) => [`n${place}`, value]));
const state = { size: 1n, idtimestamp: 1n, epoch: 1, version: 2 };
const noteKey = { name: 'log.example', type: NoteKeyType.ed25519, publicKey: HASH };
const line = signatureLine(noteKey, new Uint8Array(64));
/** A modulus of 2,048 bits with this exponent. */
const rsaWith = (exponent: readonly number[]) => rsaNumbers(new Uint8Array(256).fill(0xff), Uint8Array.from(exponent));
const bundleOf = (files: number, bytes: number) => {
  const judge = judgeBundleFiles();
  for (let file = 0; file < files; file += 1) judge(`file ${file}`, bytes);
};

const UUID = '0199c2d0-0000-7000-8000-000000000002';
const forkWith = async (more: Partial<LogFork>) =>
  readForkStatement(await signForkStatement(sampleFork(more), sampleRoot(21), 'https://archive.example'));
const readVcon = (json: string) => readJson(utf8(json)).value as JsonObject;

async function outcomeOf(read: () => unknown): Promise<'read' | 'refused'> {
  try {
    await read();
    return 'read';
  } catch {
    return 'refused';
  }
}

const MIB = 1024 * 1024;

/** What is read, with its greatest and its least extent. */
const LIMITS: [what: string, most: number, read: (extent: number) => unknown, least?: number][] = [
  ['characters in the reason of a fork', 500, async (length) => forkWith({ reason: 'x'.repeat(length) })],
  ['Unix milliseconds of a fork', LAST_TIME_MS, async (at) => forkWith({ forkedAtMs: at })],
  [
    'digits of a fraction in a created_at that a conserver’s API takes',
    6,
    (digits) =>
      asSubmitted(
        readVcon(`{"vcon":"0.0.2","uuid":"${UUID}","created_at":"2026-01-31T12:00:00.${'1'.repeat(digits)}Z"}`),
        'plain',
      ),
  ],
  ['bytes of CBOR', 4 * MIB, (bytes) => decodeCbor(encodeCbor(new Uint8Array(bytes - 5)))],
  ['bytes of a CBOR sequence', 9, (bytes) => decodeCborSequence(new Uint8Array(bytes), { maxBytes: 9 })],
  ['levels in CBOR', 16, (levels) => decodeCbor(encodeCbor(nested(levels)))],
  ['values in CBOR', 16_384, (values) => decodeCbor(encodeCbor(many(values - 1, 0)))],
  ['levels in JSON that is evidence', 900, (levels) => parseUnambiguousJson(lists(levels))],
  ['levels in a vCon', 900, (levels) => readJson(utf8(lists(levels)))],
  ['levels in a vCon in a store', 128, (levels) => storable(readJson(utf8(`{"a":${lists(levels - 1)}}`)))],
  ['characters of an attribute’s name', 1024, (length) => checkAttributes({ ['n'.repeat(length)]: '' }, 'a')],
  ['values in attributes', 4096, (values) => checkAttributes(attributes(values), 'a')],
  ['receipts of a statement', 16, (count) => attachedReceipts(new Map([[Header.receipts, many(count, HASH)]]))],
  ['hashes in the path of a receipt', 64, (count) => proofPath(many(count, HASH))],
  ['hashes in a path of a tree', 64, (count) => requireHashes('inclusion_path_invalid', 'it', many(count, HASH))],
  [
    'hashes in a tlog-proof',
    63,
    (count) => decodeTlogProof(encodeTlogProof({ index: 0n, path: many(count, HASH), checkpoint: 'c\n' })),
  ],
  ['signatures of a note', 100, (count) => decodeNote(encodeNote('text\n', many(count, line)))],
  ['bytes of a note', MIB, (length) => decodeNote(encodeNote(`${'x'.repeat(length - line.length - 2)}\n`, [line]))],
  [
    'levels of a massif’s trees',
    24,
    (height) => decodeMassifStart(encodeMassifStart({ lastIdtimestamp: 0n, epoch: 1, height, index: 0 })),
    1,
  ],
  [
    'Unix milliseconds of a seal',
    LAST_TIME_MS,
    (at) => decodeSealPayload(encodePublishedState({ ...state, sealedAtMs: at })),
  ],
  ['bytes of an RSA exponent', 4, (bytes) => rsaWith(many(bytes, 1))],
  ['files of a bundle', MOST_FILES, (files) => bundleOf(files, 0)],
  ['bytes of a file of a bundle', 16 * MIB, (bytes) => bundleOf(1, bytes)],
  ['files of 16 MiB of a bundle', 16, (files) => bundleOf(files, 16 * MIB)],
];

describe('what a verifier reads', () => {
  it.each(LIMITS)('has at most so many %s: %i', async (_what, most, read) => {
    expect([await outcomeOf(() => read(most)), await outcomeOf(() => read(most + 1))]).toEqual(['read', 'refused']);
  });

  it.each(LIMITS.filter(([, , , least]) => least !== undefined))(
    'has at least one %s',
    async (_what, _most, read, least) => {
      expect([await outcomeOf(() => read(least!)), await outcomeOf(() => read(least! - 1))]).toEqual([
        'read',
        'refused',
      ]);
    },
  );
});

describe('a log', () => {
  it('gives out every idtimestamp of 64 bits, and none after the last', () => {
    const last = 2n ** 64n - 1n;
    expect(nextIdtimestamp(last - 1n, 0)).toBe(last);
    expect(() => nextIdtimestamp(last, 0)).toThrow(RangeError);
  });
});
