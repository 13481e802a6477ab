import { describe, expect, it } from 'vitest';
import { fromHex, toBase64Url, toHex } from '../../../src/core/bytes.js';
import { type CborValue, decodeCbor, encodeCbor } from '../../../src/core/cose/cbor.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { peakReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import {
  createSeal,
  decodeSealPayload,
  encodePublishedState,
  encodeSignedState,
  type MmrState,
  readSeal,
} from '../../../src/core/receipt/seal.js';
import { sha256 } from '../../../src/core/sha256.js';
import { verifySeal } from '../../../src/core/verify/verify-seal.js';
import { type HexKey, readFixture, type TestKeys } from '../cose/read-fixture.js';
import { softwareSigner } from '../cose/software-signer.js';

interface KnownState {
  readonly version: number;
  readonly size: number;
  readonly timestamp_ms: number;
  readonly idtimestamp: string;
  readonly epoch: number;
  readonly peaks: string[];
  readonly published_payload_hex: string;
  readonly signed_payload_hex: string;
}

interface KnownSeal {
  readonly curve: string;
  readonly style: string;
  readonly size: number;
  readonly issuer: string;
  readonly subject: string;
  readonly signed_payload_hex: string;
  readonly sth_hex: string;
}

interface Known {
  readonly keys: Record<string, HexKey>;
  readonly states: KnownState[];
  readonly seals: KnownSeal[];
  readonly sealWithoutPeak: string;
}

const KNOWN = readFixture<Known>('seals');
const KEYS = readFixture<TestKeys>('keys');
const logKeys = Object.values(KNOWN.keys).map(
  ({ crv, x, y }) => ({ kty: 'EC', crv, x: toBase64Url(fromHex(x)), y: toBase64Url(fromHex(y)) }) as const,
);
/** Peaks at a size, from the signed form of a known seal. */
function peaksIn(signedPayloadHex: string): Uint8Array[] {
  return (decodeCbor(fromHex(signedPayloadHex)) as Map<number, Uint8Array[]>).get(8)!;
}

describe('known states', () => {
  it.each(KNOWN.states)('of version $version and size $size are encoded to the byte and read back', (vector) => {
    const state: MmrState = {
      size: BigInt(vector.size),
      sealedAtMs: Number(vector.timestamp_ms),
      idtimestamp: BigInt(vector.idtimestamp),
      epoch: Number(vector.epoch),
      version: vector.version,
    };
    expect(toHex(encodePublishedState(state))).toBe(vector.published_payload_hex);
    expect(toHex(encodeSignedState(state, vector.peaks.map(fromHex)))).toBe(vector.signed_payload_hex);
    expect(decodeSealPayload(fromHex(vector.published_payload_hex))).toEqual({ state, carriesPeaks: false });
    expect(decodeSealPayload(fromHex(vector.signed_payload_hex))).toEqual({ state, carriesPeaks: true });
  });

  it.each<[string, string, CborValue]>([
    [
      'a key that is not known',
      'malformed',
      new Map([
        [1, 1],
        [3, 1],
        [4, 1],
        [6, 1],
        [7, 2],
        [9, 1],
      ]),
    ],
    [
      'a bagged root where the version has peaks',
      'malformed',
      new Map<number, CborValue>([
        [1, 1],
        [2, new Uint8Array(32)],
        [3, 1],
        [4, 1],
        [6, 1],
        [7, 2],
      ]),
    ],
    [
      'no size',
      'malformed',
      new Map([
        [3, 1],
        [4, 1],
        [6, 1],
      ]),
    ],
    [
      'a negative size',
      'malformed',
      new Map([
        [1, -1],
        [3, 1],
        [4, 1],
        [6, 1],
      ]),
    ],
    ['a list for a state', 'malformed', [1]],
    [
      'a version from the future',
      'unsupported',
      new Map([
        [1, 1],
        [3, 1],
        [4, 1],
        [6, 1],
        [7, 3],
      ]),
    ],
  ])('are refused with %s', (_, code, state) => {
    expect(() => decodeSealPayload(encodeCbor(state))).toThrow(expect.objectContaining({ code }));
  });
});

describe('known seals', () => {
  it.each(KNOWN.seals)('$curve $style of size $size verify against the log’s own peaks', async (vector) => {
    const seal = await verifySeal(fromHex(vector.sth_hex), peaksIn(vector.signed_payload_hex), { logKeys });
    expect(seal).toMatchObject({
      issuer: vector.issuer,
      subject: vector.subject,
      state: { size: BigInt(vector.size) },
    });
    expect(seal.peakReceipts).toHaveLength(peaksIn(vector.signed_payload_hex).length);
  });

  it.each(KNOWN.seals)('$curve $style of size $size are refused against any other peaks', async (vector) => {
    const peaks = peaksIn(vector.signed_payload_hex);
    const changed = peaks.map((peak, slot) => (slot === 0 ? sha256(peak) : peak));
    await expect(verifySeal(fromHex(vector.sth_hex), changed, { logKeys })).rejects.toMatchObject({
      code: 'seal_signature_invalid',
    });
    await expect(verifySeal(fromHex(vector.sth_hex), peaks.slice(1), { logKeys })).rejects.toMatchObject({
      code: 'insufficient_data',
    });
  });

  describe.each(KNOWN.seals)('$curve $style of size $size as replication tools write them back', (vector) => {
    const signed = fromHex(vector.signed_payload_hex);
    const carrying = (payload: Uint8Array) => encodeSign1({ ...decodeSign1(fromHex(vector.sth_hex)), payload });

    it('verify against the log’s own peaks', async () => {
      const seal = await verifySeal(carrying(signed), peaksIn(vector.signed_payload_hex), { logKeys });
      expect(seal.state.size).toBe(BigInt(vector.size));
    });

    it('are a fork beside other peaks, and refused with peaks that nobody signed', async () => {
      const [first, ...more] = peaksIn(vector.signed_payload_hex);
      const other = [sha256(first!), ...more];
      await expect(verifySeal(carrying(signed), other, { logKeys })).rejects.toMatchObject({
        code: 'consistency_invalid',
      });
      const map = decodeCbor(signed) as Map<number, CborValue>;
      const edited = encodeCbor(new Map([...map, [8, other]]));
      for (const peaks of [other, [first!, ...more]])
        await expect(verifySeal(carrying(edited), peaks, { logKeys })).rejects.toMatchObject({
          code: 'seal_signature_invalid',
        });
    });
  });

  it('of a running service, whose peak is not public, are read with stripped and named keys', () => {
    expect(readSeal(fromHex(KNOWN.sealWithoutPeak))).toMatchObject({
      state: { size: 1n, sealedAtMs: 1776156346691, idtimestamp: 11352214529602885888n, epoch: 1, version: 2 },
      issuer: 'f7440bfd-ab9e-4b65-9384-ab20b165a0c8',
      peakReceipts: [expect.any(Uint8Array)],
    });
  });
});

describe('a seal that we make', () => {
  const signer = softwareSigner(KEYS.sealer);
  const name = { issuer: 'https://log.example', subject: 'tenant/112758ce-a8cb-4924-8df8-fcba1e31f8b0' };
  const state: MmrState = { size: 4n, sealedAtMs: 1737045850000, idtimestamp: 2n ** 63n + 1n, epoch: 1, version: 2 };
  const peaks = [sha256(Uint8Array.of(1)), sha256(Uint8Array.of(2))];
  const receipts = () => Promise.all(peaks.map((peak) => peakReceipt(peak, signer, name)));

  it('verifies, carries the state without peaks and one receipt a peak', async () => {
    const stored = await receipts();
    const wire = await createSeal(state, peaks, signer, name, stored);
    const seal = await verifySeal(wire, peaks, { logKeys: [signer.publicKey], log: name });
    expect(seal).toMatchObject({ state, ...name, peakReceipts: stored });
    const header = seal.sign1.protectedHeader;
    expect([...header.keys()]).toEqual([1, 13, 15]);
    expect(toHex(encodeCbor(header.get(13)!))).toBe(toHex(encodeCbor(header.get(15)!)));
    expect(toHex(seal.sign1.payload!)).toBe(toHex(encodePublishedState(state)));
  });

  it('takes exactly one receipt a peak', async () => {
    const one = (await receipts()).slice(1);
    await expect(createSeal(state, peaks, signer, name, one)).rejects.toThrow(TypeError);
  });

  it('is refused under a key that is not among the given ones, though it carries that key', async () => {
    const wire = await createSeal(state, peaks, signer, name, await receipts());
    await expect(verifySeal(wire, peaks, { logKeys })).rejects.toMatchObject({ code: 'log_key_not_trusted' });
  });

  it('is refused when it claims a trusted key and another one signed', async () => {
    const stranger = softwareSigner(KEYS.stranger);
    const impostor = { ...stranger, kid: signer.kid, publicKey: signer.publicKey };
    const wire = await createSeal(state, peaks, impostor, name, await receipts());
    await expect(verifySeal(wire, peaks, { logKeys: [signer.publicKey] })).rejects.toMatchObject({
      code: 'seal_signature_invalid',
    });
  });

  it('is refused as the seal of another log under the same key', async () => {
    const wire = await createSeal(state, peaks, signer, { ...name, subject: 'tenant/other' }, await receipts());
    await expect(verifySeal(wire, peaks, { logKeys: [signer.publicKey], log: name })).rejects.toMatchObject({
      code: 'log_mismatch',
    });
  });

  it.each<[string, Partial<MmrState>]>([
    ['size', { size: 5n }],
    ['time', { sealedAtMs: 1 }],
    ['idtimestamp', { idtimestamp: 7n }],
    ['epoch', { epoch: 2 }],
    ['version', { version: 1 }],
  ])('is refused when its %s is changed afterwards', async (_, change) => {
    const wire = await createSeal(state, peaks, signer, name, await receipts());
    const forged = encodeSign1({ ...decodeSign1(wire), payload: encodePublishedState({ ...state, ...change }) });
    await expect(verifySeal(forged, peaks, { logKeys: [signer.publicKey] })).rejects.toMatchObject({
      code: change.size === undefined ? 'seal_signature_invalid' : 'insufficient_data',
    });
  });
});
