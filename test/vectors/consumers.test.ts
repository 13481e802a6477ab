import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readFixtureFile } from '../support/read-fixture-file.js';

const SHARED = new URL('../../../shared/vectors/', import.meta.url);

/** Which tests check each file of the shared vectors, relative to test/. A file that is not here fails the first test. */
const CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  'api-post-input': ['vectors/command-line.test.ts'],
  'api-post-stored': ['vectors/command-line.test.ts'],
  c2sp: ['core/tlog/tlog.test.ts', 'vectors/core.test.ts'],
  'cli-expected': ['vectors/command-line.test.ts'],
  'cli-jag-log-h3': ['vectors/core.test.ts', 'vectors/command-line.test.ts'],
  eventsv1: ['core/event/asset-free-leaf.test.ts', 'vectors/core.test.ts', 'vectors/command-line.test.ts'],
  'hash-envelope': ['scitt/examine-statement.test.ts', 'vectors/command-line.test.ts'],
  idtimestamp: ['core/massif/vectors.test.ts'],
  'massif-blob-h3': ['core/massif/vectors.test.ts', 'vectors/command-line.test.ts'],
  'massif-files-kat39': ['core/massif/vectors.test.ts', 'vectors/command-line.test.ts'],
  'massif-h14-digests': ['core/massif/vectors.test.ts'],
  'massif-header': ['core/massif/vectors.test.ts'],
  'massif-offsets': ['core/massif/vectors.test.ts'],
  'mmr-bagged-v0': ['core/mmr/vectors.test.ts'],
  'mmr-consistency': ['core/mmr/vectors.test.ts'],
  'mmr-inclusion': ['core/mmr/vectors.test.ts'],
  'mmr-kat39': ['core/mmr/vectors.test.ts'],
  'mmr-log-jag': ['core/event/asset-event-leaf.test.ts'],
  'mmr-tables': ['core/mmr/vectors.test.ts'],
  paths: ['core/massif/vectors.test.ts'],
  'receipts-mmriver': ['core/receipt/mmr-receipt.test.ts', 'vectors/core.test.ts'],
  rfc9162: ['core/rfc9162/known-answers.test.ts', 'core/receipt/rfc9162-receipt.test.ts', 'vectors/core.test.ts'],
  'seal-checkpoint': ['core/receipt/seal.test.ts', 'vectors/core.test.ts', 'vectors/command-line.test.ts'],
  triekey: ['core/massif/vectors.test.ts'],
  'v3-event-hash': ['core/event/asset-event-leaf.test.ts', 'vectors/core.test.ts', 'vectors/command-line.test.ts'],
  'vcon-hash': ['core/vcon/vcon-hash.test.ts', 'plugins/receiver.test.ts'],
  vcons: ['core/vcon/vcon-form.test.ts', 'plugins/conserver.test.ts'],
};

/** Files whose evidence was copied to fixtures, so that its tests run on any machine. */
const COPIES: Readonly<Record<string, string>> = {
  c2sp: 'tlog/c2sp.json',
  'hash-envelope': 'cose/hash-envelopes.json',
  'receipts-mmriver': 'cose/mmr-receipts.json',
  rfc9162: 'cose/rfc9162-receipts.json',
  'seal-checkpoint': 'cose/seals.json',
};
/** Members that hold whole pieces of evidence: messages, signed payloads, notes. */
const EVIDENCE = /(^|_)(hex|text|line)$/;
const NOT_EVIDENCE = /^(protected|private_scalar|seed|public_key|entry_bundle|log_id)_hex$/;

function* evidenceIn(value: unknown, name = ''): Generator<string> {
  if (typeof value === 'string' && EVIDENCE.test(name) && !NOT_EVIDENCE.test(name)) yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) yield* evidenceIn(member, Array.isArray(value) ? name : key);
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) yield* textsIn(member);
}

const source = (test: string) => readFileSync(new URL(`../${test}`, import.meta.url), 'utf8');

describe.skipIf(!existsSync(SHARED))('the shared vectors', () => {
  const names = existsSync(SHARED)
    ? readdirSync(SHARED).flatMap((name) => (name.endsWith('.md') ? [] : [name.replace(/\.json$/, '')]))
    : [];

  it('all have a test', () => {
    expect(names.sort()).toEqual(Object.keys(CONSUMERS).sort());
  });

  it.each(Object.entries(CONSUMERS))('%s: its tests read it, or the copy of it in fixtures', (name, tests) => {
    const copy = COPIES[name]?.replace(/^(cose\/)?(.*?)(\.json)?$/, '$2');
    for (const test of tests) {
      const read = [name, copy].some((file) => file && new RegExp(`['/]${file}(\\.json)?['/]`).test(source(test)));
      expect([test, read]).toEqual([test, true]);
    }
  });

  it.each(Object.entries(COPIES))('%s: the copy in fixtures has every piece of evidence', (name, copy) => {
    const copied = new Set(textsIn(readFixtureFile(copy)));
    const evidence = [...evidenceIn(JSON.parse(readFileSync(new URL(`${name}.json`, SHARED), 'utf8')))];
    expect(evidence.length).toBeGreaterThan(0);
    expect(evidence.filter((piece) => !copied.has(piece))).toEqual([]);
  });
});
