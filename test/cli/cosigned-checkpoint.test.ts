import { expect, it } from 'vitest';
import { withCosigners } from '../../src/cli/monitor/cosigned-checkpoint.js';
import { fromBase64, utf8 } from '../../src/core/bytes.js';
import { VerificationError } from '../../src/core/errors.js';
import { encodeNote, NoteKeyType, signatureLine } from '../../src/core/tlog/signed-note.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

const name = 'w1.example';
const { publicKey } = newKeyPair({ type: 'ed25519' });
const key = { name, type: NoteKeyType.cosignature, publicKey: fromBase64(publicKey.export({ format: 'jwk' }).x!) };
const cosigned = { witnesses: { witnesses: [key], quorum: 1 }, by: [name] };
/** A checkpoint that was seen, with a cosignature that the witness did not make. */
const seen = utf8(encodeNote('log/1\n', [signatureLine(key, new Uint8Array(72))]));

it('only a checkpoint that contradicts one that was seen is said to be of a split view', async () => {
  const fork = new VerificationError('consistency_invalid', 'two roots');
  const entry = new VerificationError('leaf_mismatch', 'an entry is another one');
  expect(await withCosigners(entry, cosigned, seen)).toBe(entry);
  expect(await withCosigners(fork, cosigned, undefined)).toBe(fork);
  expect(await withCosigners(fork, cosigned, seen)).toMatchObject({
    code: 'consistency_invalid',
    message: expect.stringMatching(/^a split view: two roots; this checkpoint is cosigned by w1.example;/),
  });
});

it('a forged cosignature on the checkpoint that was seen counts as none', async () => {
  const { message } = await withCosigners(new VerificationError('consistency_invalid', 'two roots'), cosigned, seen);
  expect(message).toContain('the one that was seen before is not cosigned by w1.example');
});
