import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BenchDocument, benchDocument, readBenchDocument } from './bench-document.js';
import { SMOKE } from './bench-plan.js';
import { compareDocuments, comparisonText } from './compare-documents.js';
import { type Finding, goalRows, goalTable } from './goal-row.js';
import { GOALS, type GoalId } from './goals.js';
import { besideSlowest } from './health-beside-rude-callers.js';

const documentOf = (found: Partial<Record<GoalId, Finding>>): BenchDocument => {
  const goals = goalRows(new Map(Object.entries(found) as [GoalId, Finding][]), () => ({ notMeasured: 'no server' }));
  return benchDocument(SMOKE, new Date(), { goals, notRun: [], details: {} });
};

describe('the document of the benchmark', () => {
  it('has one row for each goal, met or missed by the median of its rounds, in the goal’s own direction', () => {
    const { goals } = documentOf({
      'posts-postgresql': { rounds: [0.9, 0.5, 0.54] },
      'start-postgresql': { rounds: [1.4], floor: { figure: 0.2, why: 'the start of Node' } },
      'audit-leaves': { rounds: [10_000], floor: { figure: 25_000, why: 'raw hashes' } },
    });
    expect(goals.map(({ id }) => id)).toEqual(Object.keys(GOALS));
    const row = (id: GoalId) => goals.find((each) => each.id === id);
    expect(row('posts-postgresql')).toMatchObject({ figure: 0.54, met: false, rounds: [0.9, 0.5, 0.54], floor: null });
    expect(row('start-postgresql')).toMatchObject({ figure: 1.4, met: true, floor: { figure: 0.2 } });
    expect(row('posts-embedded')).toMatchObject({ figure: null, met: null, notMeasured: 'no server' });
    expect(goalTable(goals)).toMatch(
      /^Start, PostgreSQL +1\.4 +≤ 1\.5 +met .*floor 0\.2 \(a factor of 7\): the start of Node$/m,
    );
    expect(goalTable(goals)).toMatch(/^Audit .*floor 25000 \(a factor of 2\.5\): raw hashes$/m);
  });

  it('is read back as it was written, and a file of another form is refused with the member that is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-document-'));
    try {
      const document = documentOf({ 'posts-embedded': { rounds: [0.3] } });
      const path = join(folder, 'document.json');
      await writeFile(path, JSON.stringify(document));
      expect(await readBenchDocument(path)).toEqual(document);
      await writeFile(path, JSON.stringify({ ...document, version: 2 }));
      await expect(readBenchDocument(path)).rejects.toThrow(/version/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('says in a row what a reader has to know of the figure, and reads earlier documents, whose rows say nothing', async () => {
    const document = documentOf({ 'audit-leaves': { rounds: [30_000], note: '20064 leaves' } });
    expect(goalTable(document.goals)).toMatch(/^Audit +30000 .* 20064 leaves$/m);
    const folder = await mkdtemp(join(tmpdir(), 'bench-document-'));
    try {
      const path = join(folder, 'document.json');
      const goals = document.goals.map(({ note: _, ...row }) => row);
      await writeFile(path, JSON.stringify({ ...document, goals }));
      expect((await readBenchDocument(path)).goals.every(({ note }) => note === null)).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('names in the row of rude callers the behaviour that the slowest answer was beside', () => {
    const rows = [
      { name: 'a body that never ends', slowestMs: 20 },
      { name: 'a flood', slowestMs: 70 },
      { name: 'a slow reader', slowestMs: 30 },
    ];
    const { goals } = documentOf({ 'healthz-beside-rude-callers': besideSlowest(rows) });
    const { figure, note } = goals.find(({ id }) => id === 'healthz-beside-rude-callers')!;
    expect([figure, note]).toEqual([70, 'slowest of 3: beside a flood']);
  });

  it('says of each goal of two documents whether it became better, and warns when the machines differ', () => {
    const before = documentOf({
      'posts-embedded': { rounds: [0.1] },
      'start-postgresql': { rounds: [2] },
      'start-embedded-first': { rounds: [4] },
    });
    const now = documentOf({
      'posts-embedded': { rounds: [0.05] },
      'start-postgresql': { rounds: [1] },
      'start-embedded-first': { rounds: [4.2] },
      'receipts-over-http': { rounds: [1] },
    });
    const changes = new Map(compareDocuments(now, before).map((each) => [each.id, each]));
    expect(changes.get('posts-embedded')).toMatchObject({ before: 0.1, now: 0.05, ratio: 0.5, change: 'worse' });
    expect(changes.get('start-postgresql')).toMatchObject({ change: 'better' });
    expect(changes.get('start-embedded-first')).toMatchObject({ change: 'same' });
    expect(changes.get('receipts-over-http')).toMatchObject({ before: null, ratio: null, change: 'not compared' });
    const other = { ...before, machine: { ...before.machine, cores: 64 } };
    expect(comparisonText(now, other)).toMatch(/^The two runs differ in cores: 64 before/);
  });
});
