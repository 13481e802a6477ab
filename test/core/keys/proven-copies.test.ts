import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { evidenceFile } from '../../../src/core/evidence/evidence-file.js';
import { verifyUnderRoot } from '../../../src/core/evidence/root-trust.js';
import { verifyEvidence } from '../../../src/core/evidence/verify-evidence.js';
import type { KeyManifest } from '../../../src/core/keys/key-manifest.js';
import { namedKey } from '../../../src/core/keys/manifest-key.js';
import { type SampleSealedLog, sampleSealedLog } from '../verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../verify/sample-transparent-statement.js';
import { firstManifest, sampleRoot } from './sample-manifests.js';

const { sealer, stranger } = sampleSigners;
const logKeys = [sealer.publicKey, stranger.publicKey];
const listed = (signer: typeof sealer, state: 'active' | 'revoked', role = 'seal') => ({
  ...namedKey(signer.publicKey as unknown as Record<string, string>),
  ...{ role, state, validFromMs: 0, since: 1 },
  ...(state === 'revoked' ? { validUntilMs: 1, revokedAt: {} } : {}),
});
/** The key of `stranger` was stolen; the log goes on with that of `sealer`. */
const manifestWith = (stolen = listed(stranger, 'revoked')): KeyManifest => ({
  ...firstManifest(sampleRoot(1).publicKey),
  keys: [listed(sealer, 'active'), stolen],
});

async function judged(files: Readonly<Record<string, Uint8Array>>, manifest = manifestWith()) {
  const given = await Promise.all(Object.entries(files).map(([path, bytes]) => evidenceFile(path, bytes)));
  const { verdict } = await verifyUnderRoot(
    async () => ({
      ...{ manifest, history: [], source: { name: '', bytes: utf8('') }, others: [] },
      logKeys,
      issuerKeys: [],
    }),
    () =>
      verifyEvidence(given, {
        logKeys: async () => logKeys,
        issuers: async () => ({ issuerKeys: [], issuer: undefined }),
        ...{ issuer: undefined, hasIssuers: true, statementLog: {}, tenancyLog: {}, witnesses: [], quorum: 0 },
        ...{ witnessedLog: undefined, statementOnly: false },
      }),
  );
  return verdict;
}

const LEAVES = 12;
const logBy = (signer: typeof sealer, more: object = {}) => sampleSealedLog({ leaves: LEAVES, signer, ...more });
const [old, fresh] = [logBy(stranger), logBy(sealer)];

/** A replica of massifs, each sealed when it had all its leaves or the log had so many. */
async function replica(log: SampleSealedLog, first: number, leaves: number): Promise<Uint8Array> {
  const files: Record<string, Uint8Array> = {};
  for (let massif = first; 4 * massif < leaves; massif += 1) {
    const at = (kind: string) => `tenant/${SAMPLE_TENANCY}/0/${kind}/000000000000000${massif}`;
    const count = Math.min(leaves, 4 * massif + 4);
    files[`${at('massifs')}.log`] = log.massif(massif, count);
    files[`${at('massifseals')}.sth`] = await log.seal(count);
  }
  return zipSync(files);
}

describe('an old copy of a log, whose seals are by a key that was stolen later,', () => {
  it('is proven by a newer copy that counts and has its nodes, wherever either begins', async () => {
    for (const [from, to] of [
      [0, 8],
      [0, 7],
      [1, 6],
      [1, LEAVES],
    ] as const) {
      const copies = { 'old.zip': await replica(old, from, to), 'new.zip': await replica(fresh, 1, LEAVES) };
      const { outcome, claims, notCovered } = await judged(copies);
      expect([from, to, outcome]).toEqual([from, to, 'verified']);
      // What a stolen key says of a time is no fact.
      const times = claims.flatMap(({ by }) => by.flatMap((proof) => ('sealed_at' in proof ? proof.sealed_at : [])));
      expect([claims.length, new Set(times).size]).toEqual([2, 1]);
      expect(notCovered).toContainEqual(
        expect.objectContaining({ piece: `old.zip/tenant/${SAMPLE_TENANCY}/0`, why: 'explanation' }),
      );
    }
  });

  it('stays unproven by itself, and beside a copy that is shorter, from another part of the log or of another generation', async () => {
    const copy = { 'old.zip': await replica(old, 0, 8) };
    const fork = logBy(sealer, { subject: `tenant/${SAMPLE_TENANCY}.1` });
    for (const beside of [
      undefined,
      replica(fresh, 0, 7),
      replica(fresh, 2, LEAVES),
      replica(fork, 0, LEAVES),
      replica(old, 0, LEAVES),
    ]) {
      const files = { ...copy, ...(beside && { 'new.zip': await beside }) };
      expect((await judged(files)).outcome).toBe('incomplete');
    }
  });

  it('stays unproven if it has other nodes than the newer copy', async () => {
    const forged = logBy(stranger, { event: (leaf: number) => (leaf === 5 ? { operation: 'Forged' } : {}) });
    const files = { 'old.zip': await replica(forged, 0, 8), 'new.zip': await replica(fresh, 0, LEAVES) };
    const { outcome, claims } = await judged(files);
    expect([outcome, claims.map(({ piece }) => piece.slice(0, 3))]).toEqual(['incomplete', ['new']]);
  });

  it('is proven by a later seal that counts in the same files; that it was extended is then no claim', async () => {
    const files = {
      '0.log': old.massif(0, 4),
      '0.sth': await old.seal(4),
      '1.log': fresh.massif(1, 8),
      '1.sth': await fresh.seal(8),
    };
    const { outcome, claims } = await judged(files);
    expect([outcome, claims.map(({ kind, by }) => [kind, by.length])]).toEqual(['verified', [['log', 1]]]);
  });

  it('is refused if its key is one of another role', async () => {
    const files = { 'old.zip': await replica(old, 0, 8), 'new.zip': await replica(fresh, 0, LEAVES) };
    for (const state of ['active', 'revoked'] as const)
      expect((await judged(files, manifestWith(listed(stranger, state, 'issuer')))).outcome).toBe('refused');
  });
});

it('a generation that only a stolen key names refuses nothing: evidence that it contradicts is unproven', async () => {
  const thief = logBy(stranger, { event: (leaf: number) => (leaf === 1 ? { operation: 'Forged' } : {}) });
  const fork = logBy(sealer, {
    subject: `tenant/${SAMPLE_TENANCY}.1`,
    event: (leaf: number) => (leaf === 1 ? { operation: 'Forged' } : {}),
  });
  const at = (kind: string, massif: number) => `tenant/${SAMPLE_TENANCY}/0/${kind}/000000000000000${massif}`;
  const copy = async (first: SampleSealedLog) =>
    zipSync({
      [`${at('massifs', 0)}.log`]: first.massif(0, 4),
      [`${at('massifseals', 0)}.sth`]: await first.seal(4),
      [`${at('massifs', 1)}.log`]: fork.massif(1, 8),
      [`${at('massifseals', 1)}.sth`]: await fork.seal(8),
    });
  const event = { 'e.json': utf8(JSON.stringify(fresh.events[3])), 'r.cose': await fresh.receipt(3, 8) };
  const { outcome, claims } = await judged({ ...event, 'log.zip': await copy(thief) });
  expect([outcome, claims.map(({ kind }) => kind).sort()]).toEqual(['incomplete', ['event', 'log']]);
  const honest = logBy(sealer, { event: (leaf: number) => (leaf === 1 ? { operation: 'Forged' } : {}) });
  expect((await judged({ ...event, 'log.zip': await copy(honest) })).outcome).toBe('refused');
});
