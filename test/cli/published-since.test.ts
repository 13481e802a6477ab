import { describe, expect, it } from 'vitest';
import type { CopyManifest } from '../../src/cli/backup/copy-manifest.js';
import { chainHalt, haltReasons, publishedSince } from '../../src/cli/restore/published-since.js';

const [KEYS_LOG, TENANCY] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const DEPLOYMENT = '33333333-3333-4333-8333-333333333333';
const numbered = (folder: string, number: number): string => `${folder}/${String(number).padStart(16, '0')}`;

const log = (id: string, structure: string) => ({
  ...{ log: id, name: id, structure, massifLeaves: 16_384, leaves: 3, publishedLeaves: 3 },
  ...{ sealNumber: 2, publishedNumber: 2 },
});

const MANIFEST: CopyManifest = {
  ...{ format: 'vcon-archivist-copy/1', madeAt: '2026-01-31T12:00:00Z', program: '0.1.0', deployment: DEPLOYMENT },
  ...{ engine: 'PostgreSQL', migrations: [], tables: [], sequences: [], lastBlock: 4, lastManifest: 1 },
  ...{ objects: { count: 0, size: 0, missing: 0 }, keys: 'encrypted', files: [] },
  logs: [log(KEYS_LOG, 'RFC9162_SHA256'), log(TENANCY, 'MMR_SHA256')],
};

const COPIED = [
  ...[KEYS_LOG, TENANCY].flatMap((id) => [1, 2].map((number) => numbered(`seals/${id}`, number))),
  numbered(`blocks/${DEPLOYMENT}`, 4),
  numbered(`key-manifests/${KEYS_LOG}`, 1),
];

/** What a restore halts, if the object store has all of the copy and this. */
function halts(later: readonly string[], unknownSince = false) {
  const copied = COPIED.map((key) => ({ key }));
  const since = publishedSince(MANIFEST, copied, new Set([...COPIED, ...later]));
  const logs = haltReasons(MANIFEST, since, unknownSince);
  return { known: since.known, logs: Object.fromEntries(logs), chain: chainHalt(MANIFEST, since, logs) };
}

const older = (what: string) => `the object store has ${what}: the database is older than what was published`;
const unknown = 'restored from the copy of 2026-01-31T12:00:00Z: what was published after it is unknown';

describe('what a restore halts', () => {
  it.each<[what: string, later: string[], logs: Record<string, string>, chain: string | undefined]>([
    ['nothing, if nothing was published', [], {}, undefined],
    ["a tenancy's log with a later seal", [numbered(`seals/${TENANCY}`, 3)], { [TENANCY]: older('seal 3') }, undefined],
    [
      'a log with a later open fork',
      [numbered(`seals/${TENANCY}.1`, 3), numbered(`forks/${TENANCY}`, 1)],
      { [TENANCY]: older('generation 1') },
      undefined,
    ],
    ['the chain with a later block', [numbered(`blocks/${DEPLOYMENT}`, 5)], {}, older('block 5')],
    [
      'the chain with the keys log, without which it gets no block',
      [numbered(`key-manifests/${KEYS_LOG}`, 2), numbered(`seals/${KEYS_LOG}`, 3)],
      { [KEYS_LOG]: older('seal 3') },
      'the keys log is halted',
    ],
    ['no log of which only seals that the copy has are there', [numbered(`seals/${TENANCY}`, 2)], {}, undefined],
  ])('is %s', (_, later, logs, chain) => {
    expect(halts(later)).toEqual({ known: true, logs, chain });
  });

  it('is every log and the chain, if what was published later is unknown', () => {
    expect(halts([], true)).toMatchObject({
      logs: { [KEYS_LOG]: unknown, [TENANCY]: unknown },
      chain: 'the keys log is halted',
    });
  });

  it('is not known from a store that lacks an object of the copy', () => {
    const copied = [...COPIED, numbered(`seals/${TENANCY}`, 9)].map((key) => ({ key }));
    expect(publishedSince(MANIFEST, copied, new Set(COPIED)).known).toBe(false);
  });
});
