import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { readStreamEntry } from '../../plugins/stream/stream-record.js';
import { readJson } from '../../src/core/vcon/json-document.js';
import { pythonJson } from '../../src/core/vcon/python-json.js';
import { pythonPath } from '../support/prerequisites.js';
import { driveLink, type Step } from './python-link.js';

const call = readFileSync(new URL('../../fixtures/vcon/call.vcon.json', import.meta.url), 'utf8');
const UUID = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01';
const stored = (uuid: string, members: object = {}) =>
  JSON.stringify({ uuid, created_at: '2026-11-20T10:00:00+00:00', parties: [{ tel: '+15550100' }], ...members });
const put = (uuid: string, members?: object): Step => ({ set: uuid, document: stored(uuid, members) });
const pairs = (fields: Record<string, string>) => Object.entries(fields).flat();
const folder = mkdtempSync(join(tmpdir(), 'wheel-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!pythonPath)('the link of the wheel', () => {
  it('appends one record with the conserver’s own hash, and lets the chain go on', () => {
    const options = { vcon_operation: 'vcon_created', chain: 'main' };
    const { results, entries } = driveLink([
      { set: UUID, document: call },
      { link: 'evidence', uuid: UUID, options },
    ]);
    expect(results[1]).toMatchObject({ answer: UUID });
    expect(entries).toHaveLength(1);
    const { stream, fields } = entries[0]!;
    expect(stream).toBe('vcon-evidence');
    const written = pythonJson(readJson(Buffer.from(call)).value);
    expect(fields).toMatchObject({
      version: '1',
      method: 'link',
      operation: 'vcon_created',
      uuid: UUID,
      hash: createHash('sha256').update(written).digest('hex'),
      link: 'evidence',
      chain: 'main',
    });
    expect(readStreamEntry('1763712000250-3', pairs(fields))).toMatchObject({
      operation: { name: 'vcon_created', chain: 'main', link: 'evidence' },
      method: 'link',
      observed: { atMs: 1_763_712_000_250, sequence: '01763712000250-00000003' },
    });
  });

  it('records what the receiver would, of consents and predecessors too, and nothing that a person said', async () => {
    const body = {
      lawful_basis: 'consent',
      purpose_grants: [
        { purpose: 'recording', granted: true, granted_at: '2026-01-01T00:00:00Z' },
        { purpose: 'analyse é', granted: false },
      ],
    };
    const members = {
      parties: [{ tel: '+15550100123', name: 'Anna Okafor', mailto: 'anna@example.org' }],
      attachments: [{ type: 'lawful_basis', party: 0, body }, { type: 'tags', body: ['x'] }, null],
      amended: { uuid: randomUUID() },
      updated_at: '2026-11-20T11:00:00Z',
      vcon: '0.4.0',
    };
    const uuid = randomUUID();
    const { entries } = driveLink([put(uuid, members), { link: 'l', uuid }]);
    const { vcon } = readStreamEntry('1-0', pairs(entries[0]!.fields));
    const received = pythonJson(readJson(Buffer.from(stored(uuid, members))).value);
    const { form: _form, jcs: _jcs, ...facts } = await vconFacts(Buffer.from(received));
    expect(vcon).toEqual(facts);
    expect(vcon.consents).toHaveLength(1);
    for (const word of ['Anna', 'Okafor', '5550100', '@', 'recording', 'analyse'])
      expect(JSON.stringify(entries)).not.toContain(word);
  });

  it('says nothing of the consents of a signed vCon, which shows none', () => {
    const signed = readFileSync(new URL('../../fixtures/vcon/signed-call.vcon.json', import.meta.url), 'utf8');
    const { entries } = driveLink([
      { set: UUID, document: signed },
      { link: 'l', uuid: UUID },
    ]);
    const { vcon } = readStreamEntry('1-0', pairs(entries[0]!.fields));
    expect(vcon.uuid).toBe(UUID);
    expect(vcon).not.toHaveProperty('consents');
  });

  it('sends a vCon that it cannot record to the dead letters, unless told to fail open', () => {
    const uuid = randomUUID();
    const { results } = driveLink([
      { link: 'l', uuid },
      { link: 'l', uuid, options: { fail_open: true } },
      { link: 'l', uuid, options: null },
    ]);
    expect(results.map(({ raised, answer }) => raised ?? answer)).toEqual(['LookupError', uuid, 'LookupError']);
  });

  it('costs microseconds beside its one command', () => {
    const uuid = randomUUID();
    const { results } = driveLink([put(uuid), ...Array.from({ length: 200 }, () => ({ link: 'l', uuid }))]);
    const sorted = results
      .slice(1)
      .map(({ ms }) => ms)
      .sort((a, b) => a - b);
    expect(sorted[100]).toBeLessThan(5);
  });
});

describe.skipIf(!pythonPath)('the tracer of the wheel', () => {
  const links = ['transcribe', 'evidence', 'redact'];
  const options = { operations: { evidence: null, redact: 'vcon_party_redacted' } };

  it('records every link but those that are left out, and follows a new vCon whichever way round it is named', () => {
    for (const swapped of [true, false]) {
      const [first, second] = [randomUUID(), randomUUID()];
      const named: [string, string] = swapped ? [second, first] : [first, second];
      const { results, entries } = driveLink([
        put(first),
        put(second, { redacted: { uuid: first } }),
        { tracer: [first, first], links, index: -1, options },
        { tracer: [first, first], links, index: 0, options },
        { tracer: [first, first], links, index: 1, options },
        { tracer: named, links, index: 2, options },
      ]);
      expect(results.every(({ raised }) => raised === undefined)).toBe(true);
      const said = entries.map(({ fields }) => [
        fields['operation'],
        fields['link'],
        fields['uuid'],
        fields['redacted'],
      ]);
      expect(said).toEqual([
        ['vcon_enhanced', 'transcribe', first, undefined],
        ['vcon_party_redacted', 'redact', second, first],
      ]);
    }
  });

  it('never raises, with no options, no vCon and no such link', () => {
    const uuid = randomUUID();
    const { results, entries } = driveLink([
      { tracer: [uuid, uuid], links, index: 0 },
      put(uuid),
      { tracer: [uuid, uuid], links, index: 7 },
      { tracer: [uuid, uuid], links: [], index: 0 },
      { tracer: [uuid, uuid], links, index: 0 },
    ]);
    expect(results.map(({ raised }) => raised)).toEqual(Array(5).fill(undefined));
    expect(entries).toHaveLength(1);
  });
});

describe.skipIf(!pythonPath)('the wheel', () => {
  const source = fileURLToPath(new URL('../../plugins/python', import.meta.url));
  const build = (into: string) =>
    execFileSync(pythonPath!, ['-B', join(source, 'build_wheel.py'), join(folder, into)], { encoding: 'utf8' }).trim();

  it('is built without a network, the same bytes each time, and can be imported as it is', () => {
    const wheel = build('one');
    expect(readFileSync(wheel)).toEqual(readFileSync(build('two')));
    const script = 'import vcon_archivist_link, vcon_archivist_link.tracer; print(vcon_archivist_link.__version__)';
    const run = spawnSync(pythonPath!, ['-B', '-c', script], {
      env: { PYTHONPATH: wheel },
      encoding: 'utf8',
      cwd: folder,
    });
    expect([run.stderr, run.stdout.trim()]).toEqual(['', '0.1.0']);
  });

  it('needs nothing: no requirement, and a record of every file in it', () => {
    const list = `import sys, zipfile, json
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps({name: archive.read(name).decode() for name in archive.namelist()}))`;
    const files = JSON.parse(execFileSync(pythonPath!, ['-c', list, build('three')], { encoding: 'utf8' }));
    const info = 'vcon_archivist_link-0.1.0.dist-info';
    expect(files[`${info}/METADATA`]).not.toContain('Requires-Dist');
    const recorded = files[`${info}/RECORD`]
      .trim()
      .split('\n')
      .map((line: string) => line.split(',')[0]);
    expect(recorded).toEqual(Object.keys(files));
  });
});
