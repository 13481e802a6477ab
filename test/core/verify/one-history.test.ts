import { sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fromBase64, utf8 } from '../../../src/core/bytes.js';
import { verifyUnderRoot } from '../../../src/core/evidence/root-trust.js';
import type { KeyManifest } from '../../../src/core/keys/key-manifest.js';
import { namedKey } from '../../../src/core/keys/manifest-key.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex, sizeOfLeaves } from '../../../src/core/mmr/leaf-count.js';
import { peaks as peakIndices } from '../../../src/core/mmr/peaks.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { encodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { cosignatureMessage, encodeCosignature } from '../../../src/core/tlog/cosignature.js';
import { encodeNote, type NoteKey, NoteKeyType, signatureLine } from '../../../src/core/tlog/signed-note.js';
import { encodeTlogProof } from '../../../src/core/tlog/tlog-proof.js';
import type { Claim } from '../../../src/core/verify/claim.js';
import { historyFindings } from '../../../src/core/verify/one-history.js';
import { createVerdict, type Verdict, verdictWithin } from '../../../src/core/verify/verdict.js';
import { verifyReceipt } from '../../../src/core/verify/verify-receipt.js';
import { verifyWitnessed } from '../../../src/core/verify/verify-witnessed.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { firstManifest, sampleRoot } from '../keys/sample-manifests.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import { sampleSigners } from './sample-transparent-statement.js';

const { sealer, stranger } = sampleSigners;
const trust = { logKeys: [sealer.publicKey, stranger.publicKey] };
const codesOf = async (...claims: Claim[]) =>
  createVerdict(await historyFindings(claims)).contradictions.map(({ code }) => code);

describe('checkpoints that witnesses cosigned', () => {
  const log = sampleSealedLog({ leaves: 7 });
  const { publicKey, privateKey } = newKeyPair({ type: 'ed25519' });
  const key: NoteKey = {
    name: 'witness.example',
    type: NoteKeyType.cosignature,
    publicKey: fromBase64(publicKey.export({ format: 'jwk' }).x!),
  };
  /** That a checkpoint of two entries has a seal of the log as its first one. */
  async function witnessed(
    piece: string,
    leaf: number,
    leaves: number,
    second: string,
    { origin = 'log.example', pin }: { readonly origin?: string; readonly pin?: string } = {},
  ) {
    const size = sizeOfLeaves(BigInt(leaves));
    const nodes = (indices: readonly bigint[]) => indices.map((index) => log.nodes[Number(index)]!);
    const seal = await log.seal(leaves);
    const beside = rfc9162Leaf(utf8(second));
    const root = rfc9162Parent(0n, rfc9162Leaf(seal), beside);
    const text = encodeCheckpoint({ origin, size: 2n, root });
    const signature = new Uint8Array(sign(null, cosignatureMessage(1n, text), privateKey));
    const checkpoint = encodeNote(text, [signatureLine(key, encodeCosignature(1n, signature))]);
    const given = {
      seal,
      proof: encodeTlogProof({ index: 0n, path: [beside], checkpoint }),
      path: nodes(inclusionProofPath(size, mmrIndex(BigInt(leaf)))),
      peaks: nodes(peakIndices(size)),
    };
    const witnesses = { witnesses: [key], quorum: 1, ...(pin === undefined ? {} : { origin: pin }) };
    const { proofs } = await verifyWitnessed(log.events[leaf]!, given, { ...trust, ...witnesses });
    return { kind: 'witnessed', piece, facts: {}, by: proofs } as const;
  }

  it('of one size have one root, and those of two logs are not compared', async () => {
    const one = await witnessed('one', 2, 7, 'entry');
    expect(await codesOf(one, { ...one, piece: 'same' })).toEqual([]);
    expect(await codesOf(one, await witnessed('two', 2, 7, 'another entry'))).toEqual(['consistency_invalid']);
    expect(await codesOf(one, await witnessed('two', 2, 7, 'another entry', { origin: 'other.example' }))).toEqual([]);
  });

  it('are refused if they are of another log than the one that is named', async () => {
    await witnessed('one', 2, 7, 'entry', { pin: 'log.example' });
    await expect(witnessed('one', 2, 7, 'entry', { pin: 'other.example' })).rejects.toMatchObject({
      code: 'log_mismatch',
    });
  });

  it('cover seals whose peaks are those of everything else that the log signed', async () => {
    const receiptOf = async (of: typeof log, leaf: number) => {
      const { claims } = await verifyReceipt(await of.receipt(leaf), { event: of.events[leaf]! }, trust);
      return { ...claims[0]!, piece: 'receipt' };
    };
    const fork = sampleSealedLog({ leaves: 7, event: (leaf) => (leaf === 5 ? { operation: 'Other' } : {}) });
    const one = await witnessed('one', 2, 7, 'entry');
    expect(await codesOf(one, await receiptOf(log, 4))).toEqual([]);
    expect(await codesOf(one, await receiptOf(fork, 4))).toEqual(['consistency_invalid']);
  });
});

describe('evidence of a second history that a revoked key signed', () => {
  const root = sampleRoot(1).publicKey;
  const log = (signer = sealer, operation?: string) =>
    sampleSealedLog({ leaves: 8, signer, event: (leaf) => (leaf === 5 && operation ? { operation } : {}) });
  const listed = (signer: typeof sealer, state: 'active' | 'revoked') => ({
    ...namedKey(signer.publicKey as unknown as Record<string, string>),
    role: 'seal',
    state,
    validFromMs: 0,
    since: 1,
    ...(state === 'revoked' ? { validUntilMs: 1, revokedAt: {} } : {}),
  });
  const first = firstManifest(root);
  const manifest: KeyManifest = { ...first, keys: [listed(sealer, 'active'), listed(stranger, 'revoked')] };

  async function eventOf(piece: string, of: ReturnType<typeof log>, leaf: number): Promise<Verdict> {
    return verdictWithin(piece, await verifyReceipt(await of.receipt(leaf), { event: of.events[leaf]! }, trust));
  }
  async function judged(...given: Verdict[]): Promise<Verdict> {
    const alone = createVerdict(given);
    const verdict = createVerdict(alone, await historyFindings(alone.claims));
    const trusted = { manifest, history: [], source: { name: '', bytes: new Uint8Array() }, others: [] };
    const answer = await verifyUnderRoot(
      async () => ({ ...trusted, logKeys: trust.logKeys, issuerKeys: [] }),
      async () => ({ verdict, files: [] }),
    );
    return answer.verdict;
  }

  it('does not refuse the genuine, and says that the two differ', async () => {
    const genuine = await eventOf('genuine', log(), 4);
    for (const given of [
      [genuine, await eventOf('forged', log(stranger, 'Forged'), 5)],
      [await eventOf('forged', log(stranger, 'Forged'), 5), genuine],
    ]) {
      const { outcome, claims, notCovered } = await judged(...given);
      expect([outcome, claims.map(({ piece }) => piece)]).toEqual(['incomplete', ['genuine/event']]);
      expect(notCovered.map(({ piece, detail }) => [piece, detail])).toContainEqual([
        'forged/event',
        expect.stringMatching(
          /^it differs from genuine\/event .* a thief made it, or the log has signed two histories/,
        ),
      ]);
    }
    expect((await judged(genuine)).outcome).toBe('verified');
  });

  it('does not hide two histories by keys that count', async () => {
    const forged = await eventOf('forged', log(stranger, 'Forged'), 5);
    const [one, other] = [await eventOf('one', log(), 4), await eventOf('other', log(sealer, 'Other'), 5)];
    for (const given of [
      [one, other, forged],
      [forged, one, other],
      [one, forged, other],
    ]) {
      const { outcome, contradictions } = await judged(...given);
      expect([outcome, contradictions.map(({ code }) => code)]).toEqual(['refused', ['consistency_invalid']]);
    }
  });
});
