import { sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fromBase64 } from '../../src/core/bytes.js';
import { Algorithm } from '../../src/core/cose/algorithms.js';
import type { Signer } from '../../src/core/cose/signature.js';
import { signatureLine, verifyNote } from '../../src/core/tlog/signed-note.js';
import { checkpointNote, noteKey, signedAlong } from '../../src/ledger/checkpoint-note.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

const ORIGIN = 'log/a';

function newSigner(): Signer {
  const { publicKey, privateKey } = newKeyPair({ type: 'ed25519' });
  return {
    alg: Algorithm.eddsa,
    kid: new Uint8Array(32),
    publicKey: { kty: 'OKP', crv: 'Ed25519', x: publicKey.export({ format: 'jwk' }).x! },
    sign: async (message) => new Uint8Array(sign(null, message, privateKey)),
  };
}

describe('a checkpoint that was kept while its log’s key was rotated', async () => {
  const [old, active, stranger] = [newSigner(), newSigner(), newSigner()];
  const [oldKey, activeKey] = [noteKey(ORIGIN, old), noteKey(ORIGIN, active)];
  const witness = signatureLine({ ...oldKey, name: 'w.example' }, new Uint8Array(72));
  const state = { origin: ORIGIN, size: 7n, root: fromBase64('A'.repeat(43).concat('=')) };
  const later = { ...state, size: 9n };
  const kept = (await checkpointNote(state, [old])) + witness;
  const own = [activeKey, oldKey];

  it('gets a line of the new key, and keeps its others', async () => {
    const note = await signedAlong(kept, later, [active, old], own);
    expect(await verifyNote(note, [activeKey])).toBe(await verifyNote(kept, [oldKey]));
    expect(await verifyNote(note, [oldKey])).toBe(await verifyNote(kept, [oldKey]));
    expect(note.endsWith(witness)).toBe(true);
    expect(await signedAlong(note, later, [active, old], own)).toBe(note);
  });

  it('keeps the cosignatures of the log’s newest state when its key was revoked, and no older ones', async () => {
    const note = await signedAlong(kept, state, [active], [activeKey]);
    expect(await verifyNote(note, [activeKey])).toBe(await verifyNote(kept, [oldKey]));
    expect(note.endsWith(witness)).toBe(true);
    await expect(signedAlong(kept, later, [active], [activeKey])).rejects.toThrow();
  });

  it('gets none when the log itself never signed it', async () => {
    for (const forged of [kept.replace('\n7\n', '\n8\n'), await checkpointNote(state, [stranger])])
      await expect(signedAlong(forged, later, [active, old], own)).rejects.toThrow();
  });
});
