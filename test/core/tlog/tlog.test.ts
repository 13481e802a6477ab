import { createPrivateKey, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8 } from '../../../src/core/bytes.js';
import { decodeCheckpoint, encodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { cosignatureMessage, encodeCosignature, verifyCosignature } from '../../../src/core/tlog/cosignature.js';
import {
  decodeNote,
  decodeVkey,
  encodeNote,
  encodeVkey,
  NoteKeyType,
  signatureLine,
  verifyNote,
} from '../../../src/core/tlog/signed-note.js';
import { hashesAtLevel, parseTilePath, TILE_WIDTH, tilePath } from '../../../src/core/tlog/tile.js';
import { decodeTlogProof, encodeTlogProof } from '../../../src/core/tlog/tlog-proof.js';
import { readFixtureFile } from '../../support/read-fixture-file.js';

interface Known {
  readonly note: { text: string; vkey: string };
  readonly checkpoints: { vkey: string; items: { text: string; origin: string; size: number; root: string }[] };
  readonly tilePaths: { index: number; path: string }[];
  readonly cosignature: {
    vkey: string;
    witness: string;
    privateSeed: string;
    publicKey: string;
    size: number;
    time: number;
    message: string;
    line: string;
  };
}

const KNOWN = readFixtureFile<Known>('tlog/c2sp.json');
const { cosignature } = KNOWN;
const witness = decodeVkey(cosignature.vkey);
const seed = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), fromHex(cosignature.privateSeed)]),
  format: 'der',
  type: 'pkcs8',
});
const ROOT = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
const checkpointOf = (size: number) => KNOWN.checkpoints.items.find((item) => item.size === size)!;

describe('signed notes', () => {
  it('of the specification verify under their key', async () => {
    const text = await verifyNote(KNOWN.note.text, [decodeVkey(KNOWN.note.vkey)]);
    expect(text).toBe('This is an example message.\n');
  });

  it.each(KNOWN.checkpoints.items)(
    'of a checkpoint of size $size verify and are read',
    async ({ text, size, origin, root }) => {
      const signed = await verifyNote(text, [decodeVkey(KNOWN.checkpoints.vkey)]);
      expect(decodeCheckpoint(signed)).toEqual({ origin, size: BigInt(size), root: fromHex(root) });
      expect(encodeCheckpoint({ origin, size: BigInt(size), root: fromHex(root) })).toBe(signed);
    },
  );

  it.each<[string, string, (note: string) => string]>([
    ['a changed text', 'checkpoint_signature_invalid', (note) => note.replace('testdata\n', 'testdate\n')],
    ['no signature of a trusted key', 'log_key_not_trusted', (note) => note.replace('— example.com', '— example.org')],
    ['a signature that is cut short', 'checkpoint_signature_invalid', (note) => `${note.slice(0, -9)}\n`],
    ['no signature at all', 'malformed', (note) => note.slice(0, note.indexOf('\n\n') + 1)],
    ['a line that is no signature', 'malformed', (note) => `${note}- not one\n`],
    ['no line feed at its end', 'malformed', (note) => note.slice(0, -1)],
    ['a control character', 'malformed', (note) => note.replace('\n\n', '\n\t\n\n')],
    ['base64 without its padding', 'malformed', (note) => note.replace(/=+\n$/, '\n')],
    ['a space of Unicode in a name', 'malformed', (note) => `${note}— a\u0085b AAAAAAAA\n`],
    ['thousands of signatures', 'malformed', (note) => note + note.slice(note.indexOf('—')).repeat(1000)],
  ])('are refused with %s', async (_, code, change) => {
    const keys = [decodeVkey(KNOWN.checkpoints.vkey)];
    await expect(verifyNote(change(checkpointOf(3).text), keys)).rejects.toMatchObject({ code });
  });

  it('are not signed by a line of the log’s name under the id of another key', async () => {
    const key = decodeVkey(KNOWN.checkpoints.vkey);
    const { text } = decodeNote(checkpointOf(3).text);
    const other = { ...key, publicKey: new Uint8Array(32).fill(7) };
    const line = signatureLine(other, new Uint8Array(64));
    await expect(verifyNote(encodeNote(text, [line]), [key])).rejects.toMatchObject({ code: 'log_key_not_trusted' });
    expect(await verifyNote(checkpointOf(3).text + line, [key])).toBe(text);
  });

  it('may carry signatures of strangers beside the log’s', async () => {
    const note = `${checkpointOf(3).text}${cosignature.line}`;
    expect(await verifyNote(note, [decodeVkey(KNOWN.checkpoints.vkey)])).toContain('\n3\n');
  });
});

describe('verifier keys', () => {
  it('are written as they were read', () => {
    for (const vkey of [KNOWN.note.vkey, KNOWN.checkpoints.vkey, cosignature.vkey])
      expect(encodeVkey(decodeVkey(vkey))).toBe(vkey);
  });

  it.each(['', 'name', 'a+00000000+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k', `${KNOWN.note.vkey}AAAA`])(
    'are refused when their hash is not of them: "%s"',
    (vkey) => {
      expect(() => decodeVkey(vkey)).toThrow(expect.objectContaining({ code: 'key_invalid' }));
    },
  );
});

describe('checkpoints', () => {
  it('are read where nothing is wrong with them', () => {
    expect(decodeCheckpoint(`origin\n1\n${ROOT}\n`)).toMatchObject({ origin: 'origin', size: 1n });
  });

  it.each([
    '',
    'origin\n',
    `origin\n01\n${ROOT}\n`,
    `origin\n-1\n${ROOT}\n`,
    `origin\n0x1\n${ROOT}\n`,
    `origin\n${'9'.repeat(20)}\n${ROOT}\n`,
    'origin\n1\nAAAA\n',
    `origin\n1\n${ROOT.slice(4)}\n`,
    `\n1\n${ROOT}\n`,
  ])('are refused when they are none: %j', (text) => {
    expect(() => decodeCheckpoint(text)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

describe('cosignatures', () => {
  const text = decodeNote(checkpointOf(cosignature.size).text).text;

  it('sign what the known answer signs, to the byte', async () => {
    const time = BigInt(cosignature.time);
    const message = cosignatureMessage(time, text);
    expect(toHex(message)).toBe(toHex(utf8(cosignature.message)));
    const line = signatureLine(witness, encodeCosignature(time, new Uint8Array(sign(null, message, seed))));
    expect(line).toBe(cosignature.line);
    expect(await verifyCosignature(decodeNote(encodeNote(text, [line])), witness)).toBe(time);
  });

  it('are none without a line of the witness', async () => {
    expect(await verifyCosignature(decodeNote(checkpointOf(3).text), witness)).toBeUndefined();
  });

  it.each<[string, () => string]>([
    ['on another checkpoint', () => encodeNote(decodeNote(checkpointOf(3).text).text, [cosignature.line])],
    [
      'with the signature of a note in its place',
      () => encodeNote(text, [signatureLine(witness, new Uint8Array(sign(null, utf8(text), seed)))]),
    ],
    [
      'with another time',
      () => {
        const signature = new Uint8Array(sign(null, cosignatureMessage(1n, text), seed));
        return encodeNote(text, [signatureLine(witness, encodeCosignature(2n, signature))]);
      },
    ],
  ])('are refused %s', async (_, note) => {
    await expect(verifyCosignature(decodeNote(note()), witness)).rejects.toMatchObject({
      code: 'checkpoint_signature_invalid',
    });
  });

  it('and notes have keys of their own types', () => {
    expect(witness.type).toBe(NoteKeyType.cosignature);
    expect(decodeVkey(KNOWN.checkpoints.vkey).type).toBe(NoteKeyType.ed25519);
  });
});

describe('proofs of an entry under a checkpoint', () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const note = 'example.com/log\n5\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— example.com/log AAAAAAECAwQ=\n';

  it('are read as they were written, whatever stands in the checkpoint', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.array(hash, { maxLength: 63 }), (index, path) => {
        const proof = { index, path, checkpoint: note };
        expect(decodeTlogProof(encodeTlogProof(proof))).toEqual(proof);
      }),
    );
  });

  it('have the lines of the specification, and extra data is passed over', () => {
    const text = encodeTlogProof({ index: 3n, path: [new Uint8Array(32)], checkpoint: note });
    expect(text.split('\n').slice(0, 4)).toEqual(['c2sp.org/tlog-proof@v1', 'index 3', `${'A'.repeat(43)}=`, '']);
    expect(decodeTlogProof(text.replace('\n', '\nextra YWJj\n'))).toEqual(decodeTlogProof(text));
  });

  it.each([
    '',
    'c2sp.org/tlog-proof@v1\n',
    'c2sp.org/tlog-proof@v1\nindex 01\n\n',
    'c2sp.org/tlog-proof@v1\nindex -1\n\n',
    'c2sp.org/tlog-proof@v1\n\nindex 1\n\n',
    'c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\n',
    `c2sp.org/tlog-proof@v1\nindex 1\n${`${'A'.repeat(43)}=\n`.repeat(64)}\n`,
    ` c2sp.org/tlog-proof@v1\nindex 1\n\n`,
    `c2sp.org/tlog-proof@v1\nindex 1\n\n${'x'.repeat(1 << 20)}`,
  ])('are refused when they are none', (text) => {
    expect(() => decodeTlogProof(text)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

describe('tiles', () => {
  it.each(KNOWN.tilePaths)('number $index is at $path', ({ index, path }) => {
    const name = { level: 0, index: BigInt(index), width: TILE_WIDTH };
    expect(tilePath(name)).toBe(`0/${path}`);
    expect(parseTilePath(`0/${path}`)).toEqual(name);
  });

  it('have one path each', () => {
    const level = fc.oneof(fc.integer({ min: 0, max: 63 }), fc.constant('entries' as const));
    fc.assert(
      fc.property(
        level,
        fc.bigInt({ min: 0n, max: 2n ** 56n }),
        fc.integer({ min: 1, max: 256 }),
        (level, index, width) => {
          expect(parseTilePath(tilePath({ level, index, width }))).toEqual({ level, index, width });
        },
      ),
    );
  });

  it.each([
    '',
    '0',
    '0/',
    '0/1',
    '0/0001',
    '0/x000/001',
    '00/001',
    '64/001',
    '0/001.p/0',
    '0/001.p/256',
    '0/001.p/257',
    '-1/001',
    '0/001/002',
    'entry/001',
    '0/x001',
    '0/000.p/01',
  ])('are not at any other path: %j', (path) => {
    expect(parseTilePath(path)).toBeUndefined();
  });

  it('of 70,000 entries are as many as the specification says', () => {
    expect([0, 1, 2, 3].map((level) => hashesAtLevel(70_000n, level))).toEqual([70_000n, 273n, 1n, 0n]);
  });
});
