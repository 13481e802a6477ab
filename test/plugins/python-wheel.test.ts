import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { operationEvent } from '../../plugins/operation/operation-event.js';
import { type VconFacts, vconFacts } from '../../plugins/operation/vcon-facts.js';
import { readStreamEntry } from '../../plugins/stream/stream-record.js';
import { readJson } from '../../src/core/vcon/json-document.js';
import { pythonJson } from '../../src/core/vcon/python-json.js';
import { pythonPath } from '../support/prerequisites.js';
import { driveWheel, type Step } from './python-wheel.js';

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
    const { results, entries } = driveWheel([
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
      key: UUID,
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
    const { entries } = driveWheel([put(uuid, members), { link: 'l', uuid }]);
    const { vcon } = readStreamEntry('1-0', pairs(entries[0]!.fields));
    const received = pythonJson(readJson(Buffer.from(stored(uuid, members))).value);
    expect(vcon).toEqual(await vconFacts(Buffer.from(received)));
    expect(vcon.consents).toHaveLength(1);
    for (const word of ['Anna', 'Okafor', '5550100', '@', 'recording', 'analyse'])
      expect(JSON.stringify(entries)).not.toContain(word);
  });

  it('says nothing of the consents of a signed vCon, which shows none', () => {
    const signed = readFileSync(new URL('../../fixtures/vcon/signed-call.vcon.json', import.meta.url), 'utf8');
    const { entries } = driveWheel([
      { set: UUID, document: signed },
      { link: 'l', uuid: UUID },
    ]);
    const { vcon } = readStreamEntry('1-0', pairs(entries[0]!.fields));
    expect(vcon).toMatchObject({ form: 'signed', uuid: '019a9f40-02aa-8f11-b6d3-9e8d7c6b5a40' });
    expect(vcon).not.toHaveProperty('consents');
  });

  it('says nothing of the consents of a vCon with more than are compared', () => {
    const attachments = Array(1_001).fill({ purpose: 'lawful_basis', body: '{"lawful_basis":"consent"}' });
    const { entries } = driveWheel([put(UUID, { attachments }), { link: 'l', uuid: UUID }]);
    expect(entries[0]!.fields).not.toHaveProperty('consents');
  });

  it('sends a vCon that it cannot record to the dead letters, unless told to fail open', () => {
    const uuid = randomUUID();
    const { results } = driveWheel([
      { link: 'l', uuid },
      { link: 'l', uuid, options: { fail_open: true } },
      { link: 'l', uuid, options: null },
    ]);
    expect(results.map(({ raised, answer }) => raised ?? answer)).toEqual(['LookupError', uuid, 'LookupError']);
  });

  it('stops at an option with a wrong name or value, whether or not it fails open, and records nothing', () => {
    const uuid = randomUUID();
    const wrong: readonly [object, string][] = [
      [
        { vcon_opertion: 'vcon_sent', fail_open: true },
        'there is no option vcon_opertion; the options are vcon_operation, chain, tenancy, nonce, stream, fail_open, after_link',
      ],
      [{ fail_open: 'false' }, "option fail_open is 'false', but must be true or false"],
      [{ fail_open: 0 }, 'option fail_open is 0, but must be true or false'],
      [{ chain: ['main'], fail_open: true }, "option chain is ['main'], but must be a text"],
      [
        { vcon_operation: true },
        'option vcon_operation is True, but must be 1 to 64 letters, digits, "_" or "-" that do not look like a telephone number',
      ],
    ];
    const { results, entries } = driveWheel([
      put(uuid),
      ...wrong.map(([options]): Step => ({ link: 'l', uuid, options })),
    ]);
    expect(results.slice(1).map(({ raised, message }) => [raised, message])).toEqual(
      wrong.map(([, message]) => ['OptionError', message]),
    );
    expect(entries).toEqual([]);
  });

  it('accepts every option of its own and of the conserver, a label that YAML reads as a number, and one left empty', () => {
    const uuid = randomUUID();
    const options = {
      vcon_operation: 'vcon_sent',
      chain: 2026,
      tenancy: 'blue',
      nonce: 1.5,
      stream: 'own',
      fail_open: false,
      after_link: { audit: true },
    };
    const empty = Object.fromEntries(Object.keys(options).map((name) => [name, null]));
    const { results, entries } = driveWheel([
      put(uuid),
      { link: 'l', uuid, options },
      { link: 'l', uuid, options: empty },
    ]);
    expect(results.slice(1).map(({ answer }) => answer)).toEqual([uuid, uuid]);
    const labels = { operation: 'vcon_sent', chain: '2026', tenancy: 'blue', nonce: '1.5' };
    expect(entries.map(({ stream }) => stream)).toEqual(['own', 'vcon-evidence']);
    expect(entries[0]!.fields).toMatchObject(labels);
    expect(entries[1]!.fields).toMatchObject({ operation: 'vcon_enhanced' });
  });

  it('costs microseconds beside its one command', () => {
    const uuid = randomUUID();
    const { results } = driveWheel([put(uuid), ...Array.from({ length: 200 }, () => ({ link: 'l', uuid }))]);
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
  const traced = (named: [string, string], index: number, changed: object = {}): Step => ({
    tracer: named,
    links,
    index,
    options,
    ...changed,
  });
  const said = (steps: readonly Step[], config: object = {}) => {
    const { results, entries } = driveWheel(steps, undefined, config);
    expect(results.map(({ raised }) => raised)).toEqual(steps.map(() => undefined));
    return entries.map(({ fields }) => [fields['operation'], fields['link'], fields['uuid']]);
  };

  it('records a link only if what is stored differs before and after it', () => {
    const uuid = randomUUID();
    const same: [string, string] = [uuid, uuid];
    const steps = [
      put(uuid),
      traced(same, -1),
      traced(same, 0),
      put(uuid, { analysis: [{ type: 'transcript' }] }),
      traced(same, 0),
      traced(same, 0),
      put(uuid, { analysis: [{ type: 'transcript' }] }),
      traced(same, 2),
    ];
    expect(said(steps)).toEqual([['vcon_enhanced', 'transcribe', uuid]]);
  });

  it('records for each tracer of the configuration, also behind another one of this module', () => {
    const uuid = randomUUID();
    const both = (index: number) =>
      ['own', 'auditor'].map((name) => traced([uuid, uuid], index, { name, options: { stream: name } }));
    const changedOnce = [put(uuid), ...both(-1), put(uuid, { n: 1 }), ...both(0), ...both(2)];
    const { entries } = driveWheel(changedOnce);
    expect(entries.map(({ stream, fields }) => [stream, fields['link']])).toEqual([
      ['own', 'transcribe'],
      ['auditor', 'transcribe'],
    ]);
  });

  it('takes the state after one link for the state before the next, also where a link is left out', () => {
    const uuid = randomUUID();
    const same: [string, string] = [uuid, uuid];
    const steps = [
      put(uuid),
      traced(same, -1),
      put(uuid, { n: 1 }),
      traced(same, 1),
      traced(same, 2),
      put(uuid, { n: 2 }),
      traced(same, 2),
    ];
    expect(said(steps)).toEqual([['vcon_party_redacted', 'redact', uuid]]);
  });

  it('does not record a link that captures: what differs after it was changed by another chain', () => {
    const uuid = randomUUID();
    const same: [string, string] = [uuid, uuid];
    const modules = { transcribe: 'vcon_archivist_link', evidence: 'links.tag', redact: 'links.webhook' };
    const config = {
      links: Object.fromEntries(Object.entries(modules).map(([name, module]) => [name, { module }])),
    };
    const changing = [0, 1, 2].flatMap((index) => [put(uuid, { n: index }), traced(same, index, { options: {} })]);
    expect(said([put(uuid), traced(same, -1), ...changing], config)).toEqual([['vcon_enhanced', 'evidence', uuid]]);
  });

  it('names the chain when only one chain has these links', () => {
    const uuid = randomUUID();
    const chainOf = (chains: object, own: object = {}) => {
      const steps = [
        put(uuid),
        traced([uuid, uuid], -1),
        put(uuid, { n: 1 }),
        traced([uuid, uuid], 0, { options: own }),
      ];
      return driveWheel(steps, undefined, { chains }).entries[0]!.fields['chain'];
    };
    const other = { links: ['evidence'] };
    expect(chainOf({ main: { links }, other, none: null })).toBe('main');
    expect(chainOf({ main: { links }, again: { links } })).toBeUndefined();
    expect(chainOf({ main: { links } }, { chain: 'own' })).toBe('own');
  });

  it('follows a new vCon, whichever way round it is named, if it says what it comes from or the link is named', () => {
    for (const swapped of [true, false]) {
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      const named: [string, string] = swapped ? [second, first] : [first, second];
      const chain = (link: number, members: object) => [
        put(first),
        put(second, members),
        traced([first, first], -1),
        traced(named, link),
        put(second, { ...members, n: 1 }),
        traced([second, second], 0),
      ];
      const then = ['vcon_enhanced', 'transcribe', second];
      expect(said(chain(0, { redacted: { uuid: first } }))).toEqual([then, then]);
      expect(said(chain(0, { amended: { uuid: first.toUpperCase() } }))).toEqual([then, then]);
      expect(said(chain(2, {}))).toEqual([['vcon_party_redacted', 'redact', second], then]);
      expect(said(chain(0, {}))).toEqual([then]);
      expect(said(chain(0, { redacted: { uuid: third } }))).toEqual([then]);
    }
  });

  it('records nothing of a vCon that is gone or whose earlier state it does not know', () => {
    const uuid = randomUUID();
    const same: [string, string] = [uuid, uuid];
    expect(said([put(uuid), traced(same, -1), { take: uuid }, traced(same, 0)])).toEqual([]);
    expect(said([put(uuid), traced(same, 0)])).toEqual([]);
    const fails: Step = traced(same, 0, { links: [] });
    expect(said([put(uuid), traced(same, -1), fails, put(uuid, { n: 1 }), traced(same, 0)])).toEqual([]);
  });

  it('records nothing of the link after a failure, also if that link or the one before continued with another vCon', () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const fails = (named: [string, string], index: number) => traced(named, index, { links: [] });
    const starts = [put(first), put(second, { redacted: { uuid: first } }), traced([first, first], -1)];
    for (const swapped of [true, false]) {
      const to = (from: string, other: string): [string, string] => (swapped ? [other, from] : [from, other]);
      const copied = fails(to(first, second), 0);
      // The next link does nothing, and `operations` may name it.
      for (const link of [0, 2]) {
        const then = [put(second, { n: 1 }), traced([second, second], 0)];
        expect(said([...starts, copied, traced([second, second], link), ...then])).toEqual([
          ['vcon_enhanced', 'transcribe', second],
        ]);
      }
      // The next link continues with another vCon, which is the one that later links are compared with.
      const failures: readonly [readonly Step[], string][] = [
        [[{ set: first, document: 'no vCon' }, traced([first, first], -1), put(first)], first],
        [[fails([first, first], 0)], first],
        [[copied], second],
      ];
      for (const [failed, left] of failures) {
        const other = put(third, { amended: { uuid: left } });
        const later = [put(third, { n: 1 }), traced([third, third], 0)];
        const steps = [...starts, ...failed, other, traced(to(left, third), 2), traced([third, third], 2), ...later];
        expect(said(steps)).toEqual([['vcon_enhanced', 'transcribe', third]]);
      }
    }
  });

  it('records the link after one whose change the stream did not take, and says that this one is uncertain', () => {
    const uuid = randomUUID();
    const same: [string, string] = [uuid, uuid];
    const { entries, log } = driveWheel([
      ...[put(uuid), traced(same, -1), { full: true }, put(uuid, { n: 1 }), traced(same, 0)],
      ...[{ full: false }, put(uuid, { n: 2 }), traced(same, 2)],
    ]);
    expect(entries.map(({ fields }) => [fields['operation'], fields['link']])).toEqual([
      ['vcon_party_redacted', 'redact'],
    ]);
    expect(log).toEqual([`ERROR: link transcribe changed vCon ${uuid}: this is perhaps not recorded`]);
  });

  it('records the link that brings a vCon into Redis', () => {
    const uuid = randomUUID();
    const same: [string, string] = [uuid, uuid];
    const then = ['vcon_enhanced', 'transcribe', uuid];
    expect(said([traced(same, -1), put(uuid), traced(same, 0), traced(same, 0)])).toEqual([then]);
    const taken: readonly Step[] = [put(uuid), traced(same, -1), { take: uuid }, traced(same, 2)];
    expect(said([...taken, put(uuid, { n: 1 }), traced(same, 0)])).toEqual([then]);
    // As it was before it left: the conserver may have fetched it from a storage.
    expect(said([...taken, put(uuid), traced(same, 0), put(uuid, { n: 1 }), traced(same, 0)])).toEqual([then]);
    // Another vCon had the same bytes before the tracer failed.
    const other = randomUUID();
    const fails = traced([other, uuid], 0, { links: [] });
    const lost = [put(other), traced([other, other], -1), fails, traced(same, 0)];
    expect(said([...lost, { set: uuid, document: stored(other) }, traced(same, 0)])).toEqual([
      ['vcon_enhanced', 'transcribe', other],
    ]);
  });

  it('records also the vCon that a link changed before it continued with another, as what other links do', () => {
    for (const swapped of [true, false]) {
      const [first, second] = [randomUUID(), randomUUID()];
      const named: [string, string] = swapped ? [second, first] : [first, second];
      const chain = (link: number, changed: object, own = options) => [
        put(first),
        traced([first, first], -1),
        put(first, changed),
        put(second, { redacted: { uuid: first } }),
        traced(named, link, { options: own }),
        put(first, { n: 9 }),
        traced([second, second], 0),
      ];
      const redacted = ['vcon_party_redacted', 'redact', second];
      expect(said(chain(2, { n: 1 }))).toEqual([redacted, ['vcon_enhanced', 'redact', first]]);
      expect(said(chain(2, {}))).toEqual([redacted]);
      expect(said(chain(1, { n: 1 }))).toEqual([]);
    }
  });

  it('records the vCon that a link continues with, and later links, where the one that it left cannot be read', () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const { entries, log } = driveWheel([
      put(first),
      traced([first, first], -1),
      { set: first, document: 'no vCon' },
      put(second, { redacted: { uuid: first } }),
      traced([first, second], 2),
      put(second, { redacted: { uuid: first }, n: 1 }),
      traced([second, second], 0),
    ]);
    expect(entries.map(({ fields }) => [fields['operation'], fields['uuid']])).toEqual([
      ['vcon_party_redacted', second],
      ['vcon_enhanced', second],
    ]);
    expect(log).toEqual([`ERROR: link redact may have changed vCon ${first}, which it left`]);
  });

  it('says once in the log that an option is wrong, and records by the others', () => {
    const uuid = randomUUID();
    const run = (own: object) => {
      const step = (index: number): Step => traced([uuid, uuid], index, { options: own });
      return driveWheel([put(uuid), step(-1), put(uuid, { n: 1 }), step(0), put(uuid, { n: 2 }), step(2)]);
    };
    const right = { dlq_vcon_on_error: true, chain: 'main', tenancy: 'blue', nonce: 7, vcon_operation: 'vcon_sent' };
    expect(run({ ...options, ...right }).log).toEqual([]);
    const { log, entries } = run({ ...options, fail_open: true });
    expect(log).toEqual([
      expect.stringMatching(/^ERROR: tracer evidence: there is no option fail_open; the options are /),
    ]);
    expect(entries.map(({ fields }) => fields['operation'])).toEqual(['vcon_enhanced', 'vcon_party_redacted']);
    for (const [own, said] of [
      [
        { operations: ['redact'], vcon_operation: 'vcon_sent' },
        / option operations is .*, but must be a mapping of links to operations$/,
      ],
      ['chain', / the options must be a mapping of names to values$/],
    ] as const) {
      const wrong = run(own as object);
      expect(wrong.log).toEqual([expect.stringMatching(said)]);
      const usual = typeof own === 'string' ? 'vcon_enhanced' : own.vcon_operation;
      expect(wrong.entries.map(({ fields }) => fields['operation'])).toEqual([usual, usual]);
    }
  });

  it('never raises, with no options, no vCon and no such link', () => {
    const uuid = randomUUID();
    const bare = (index: number, among = links): Step => ({ tracer: [uuid, uuid], links: among, index });
    const steps = [bare(0), put(uuid), bare(-1), put(uuid, { n: 1 }), bare(7), bare(0, []), bare(0)];
    const { results, entries } = driveWheel(steps);
    expect(results.map(({ raised }) => raised)).toEqual(steps.map(() => undefined));
    expect(entries).toEqual([]);
  });
});

describe.skipIf(!pythonPath)('what the wheel tells of a document', () => {
  const OWN = new URL('../../fixtures/vcon/', import.meta.url);
  const SHARED = new URL('../../../shared/vectors/vcons/', import.meta.url);
  const nested = (jws: string) => JSON.stringify({ payload: Buffer.from(jws).toString('base64url'), signatures: [] });
  const signed = readFileSync(new URL('signed-call.vcon.json', OWN), 'utf8');
  const consent = (purposes: number) => ({
    purpose: 'lawful_basis',
    body: {
      lawful_basis: 'consent',
      purpose_grants: Array.from({ length: purposes }, (_, purpose) => ({ purpose, granted: false })),
    },
  });
  const numbers = [0, -0.5, 1e21, 1e-7, 123456789012345680000, 1.5e300, 5e-324, 0.1, 100, 2 ** 53, -(2 ** 53), 1e-6];
  const made: Readonly<Record<string, string>> = {
    empty: '{}',
    'no uuid': stored('none'),
    'a list that is none': stored(UUID, { dialog: null }),
    'numbers in every form': stored(UUID, { numbers, text: `${numbers.join(' ')}` }),
    floats: stored(UUID).replace('{', '{"f":[10.0,1e2,-0.0,1E-7,0.30000000000000004,-1.0e+16],'),
    'doubles of every size': stored(UUID, { n: fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), 5_000) }),
    'integers beyond a double': stored(UUID).replace('{', '{"n":18446744073709551615,'),
    'names beyond ASCII': stored(UUID, { é: 1, '😀': 2, '￿': 3, '\u007f': 'a\u2028b', z: { b: 1, a: [true, null] } }),
    'times that are numbers': stored(UUID, { created_at: 5, updated_at: null, vcon: 4 }),
    'upper case': stored(UUID.toUpperCase(), { redacted: { uuid: UUID.toUpperCase() }, amended: { uuid: 'x' } }),
    consents: stored(UUID, { attachments: [{ purpose: 'lawful_basis', body: '{"lawful_basis":"consent","x":NaN}' }] }),
    'consents of parties that there are, and of others': stored(UUID, {
      parties: [{}, {}],
      attachments: [0, 1, 2, -1, true, null, '0', 'float', [0], { a: 0 }].map((party) => ({ ...consent(1), party })),
    }).replace('"float"', '1.0'),
    'consents with lone surrogates': stored(UUID, {
      attachments: [
        '{"lawful_basis":"consent","x":"\ud800\udc00 \udc00\ud800\ud800"}',
        '{"lawful_basis":"consent","purpose_grants":[{"purpose":"\ud800","granted":true}]}',
        '{"lawful_basis":"consent","purpose_grants":[{"purpose":"\\ud800","granted":true}]}',
        { lawful_basis: 'consent', purpose_grants: [{ purpose: '\udfff', granted: true }] },
      ].map((body) => ({ purpose: 'lawful_basis', party: 0, body })),
    }),
    'as many consents as are compared': stored(UUID, { attachments: Array(1_000).fill(consent(1)) }),
    'more consents than are compared': stored(UUID, { attachments: Array(1_001).fill(consent(1)) }),
    'a consent to as many purposes as are compared': stored(UUID, { attachments: [consent(1_000)] }),
    'a consent to more purposes than are compared': stored(UUID, { attachments: [consent(1_001)] }),
    'signed twice': nested(signed),
    'signed, of a redaction': JSON.stringify({
      ...JSON.parse(nested(stored(UUID, { redacted: { uuid: randomUUID() } }))),
      amended: { uuid: randomUUID() },
    }),
    'signed, not readable': JSON.stringify({ payload: '!', signatures: [{ header: { uuid: UUID } }] }),
    'signed, empty': JSON.stringify({ payload: '', signatures: [1, { header: 1 }] }),
    'signed, not JSON': nested('{"uuid":NaN}'),
    'signed, other uuids': JSON.stringify({
      ...JSON.parse(nested(stored(UUID))),
      signatures: [{ header: { uuid: randomUUID() } }],
    }),
    encrypted: JSON.stringify({ ciphertext: 'x', recipients: [], unprotected: { uuid: UUID } }),
    'encrypted without uuid': JSON.stringify({ ciphertext: 'x', recipients: [] }),
    'a recording': stored(UUID, { dialog: [{ body: 'x'.repeat(400_000) }] }),
    'too much to read': stored(UUID, { analysis: Array.from({ length: 250_000 }, () => ['']) }),
    'many attachments': stored(UUID, {
      attachments: [
        { purpose: 'lawful_basis', body: { lawful_basis: 'consent' } },
        ...Array.from({ length: 300_000 }, () => ['12345678']),
      ],
    }),
    'a large signed one': JSON.stringify({ payload: 'x'.repeat(4_194_305), signatures: [{ header: { uuid: UUID } }] }),
  };
  const files = [OWN, ...(existsSync(SHARED) ? [SHARED] : [])].flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.json') && file !== 'hashes.json')
      .map((file) => [file, readFileSync(new URL(file, folder), 'utf8')] as const),
  );

  it('is what the receiver tells of the same document, whatever it is', async () => {
    const documents = [...Object.entries(made), ...files];
    const options = { vcon_operation: 'vcon_created' };
    const steps = documents.flatMap(([, document], place): Step[] => [
      { set: String(place), document },
      { link: 'l', uuid: String(place), options },
    ]);
    const { results, entries } = driveWheel(steps);
    expect(results.filter(({ raised }) => raised !== undefined)).toEqual([]);
    expect(entries).toHaveLength(documents.length);
    for (const [place, [name, document]] of documents.entries()) {
      const received = Buffer.from(pythonJson(readJson(Buffer.from(document)).value));
      const { vcon } = readStreamEntry('1-0', pairs(entries[place]!.fields));
      expect([name, vcon]).toEqual([name, await vconFacts(received)]);
    }
  });
});

describe.skipIf(!pythonPath)('the times and the version that the wheel tells of a document', () => {
  const entriesOf = (documents: readonly object[]) => {
    const options = { vcon_operation: 'vcon_created' };
    const steps = documents.flatMap((members): Step[] => [put(UUID, members), { link: 'l', uuid: UUID, options }]);
    return driveWheel(steps).entries.map(({ fields }) => fields);
  };
  const attributesOf = (vcon: VconFacts) => {
    const observed = { atMs: 0, sequence: '0' };
    return operationEvent({ name: 'vcon_created' }, vcon, { method: 'link', observed }).attributes;
  };

  it('are left as they stand when they look like times and a version', () => {
    const documents = ['2026-11-20T10:00:00Z', '2024-03-16 15:35:16.334466', '2026-11-20t10:00:00.5-08:00'].flatMap(
      (time) => ['0.4.0', '0.0.1', '1'].map((vcon) => ({ created_at: time, updated_at: time, vcon })),
    );
    expect(entriesOf(documents)).toMatchObject(documents);
  });

  it('are nothing that a person said, and the event is the same as from the receiver', async () => {
    const said = ['call from +44 20 7946 0958', '2026-11-20T10:00:00Z Jane', '٢٠٢٦-11-20T10:00:00Z', 'x'.repeat(9_000)];
    const documents = [...said, '', '0.4.0\n', '٤.0', '0.4.0.0.0', '2026-11-20T10:00:00Z\n'].map((text) => ({
      created_at: text,
      updated_at: text,
      vcon: text,
    }));
    for (const [place, fields] of entriesOf(documents).entries()) {
      const document = documents[place]!;
      expect(fields).not.toHaveProperty('created_at');
      expect(fields).not.toHaveProperty('updated_at');
      expect(fields['vcon']).toBe(document.vcon === '' ? undefined : 'unknown');
      const received = Buffer.from(pythonJson(readJson(Buffer.from(stored(UUID, document))).value));
      const { vcon } = readStreamEntry('1-0', pairs(fields));
      expect(attributesOf(vcon)).toEqual(attributesOf(await vconFacts(received)));
    }
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
    expect([run.stderr, run.stdout.trim()]).toEqual(['', '0.2.0']);
  });

  it('says that it is typed, and has the types of what a conserver and an operator call', () => {
    const script = `import sys, zipfile, typing, importlib
print("vcon_archivist_link/py.typed" in zipfile.ZipFile(sys.argv[1]).namelist())
own = {"": ["run"], ".tracer": ["run"], ".vcon_hook": ["on_vcon_created", "on_vcon_deleted"], ".endings": ["run", "start", "beat", "look_once", "request"]}
for module, names in own.items():
    for name in names:
        call = getattr(importlib.import_module("vcon_archivist_link" + module), name)
        code = call.__code__
        if set(call.__annotations__) != {*code.co_varnames[: code.co_argcount], "return"}: print(module, name)`;
    const wheel = build('typed');
    const run = spawnSync(pythonPath!, ['-B', '-c', script, wheel], {
      env: { PYTHONPATH: wheel },
      encoding: 'utf8',
      cwd: folder,
    });
    expect([run.stderr, run.stdout.trim()]).toEqual(['', 'True']);
  });

  it('is built from the archive of its sources with the same bytes, and the archive too', () => {
    const script = `import os, sys, tarfile
sys.path.insert(0, sys.argv[1])
import build_wheel
os.makedirs(sys.argv[2])
name = build_wheel.build_sdist(sys.argv[2])
tarfile.open(os.path.join(sys.argv[2], name)).extractall(sys.argv[2])
print(name)`;
    const archive = (from: string, into: string) => {
      const arguments_ = ['-B', '-c', script, from, join(folder, into)];
      return join(folder, into, execFileSync(pythonPath!, arguments_, { encoding: 'utf8' }).trim());
    };
    const first = archive(source, 'sources');
    expect(first).toBe(join(folder, 'sources', 'vcon_archivist_link-0.2.0.tar.gz'));
    const unpacked = join(folder, 'sources', 'vcon_archivist_link-0.2.0');
    expect(readdirSync(unpacked).sort()).toEqual([
      'PKG-INFO',
      'build_wheel.py',
      'pyproject.toml',
      'vcon_archivist_link',
    ]);
    expect(readFileSync(archive(unpacked, 'again'))).toEqual(readFileSync(first));
    const wheel = execFileSync(pythonPath!, ['-B', join(unpacked, 'build_wheel.py'), join(folder, 'of-sources')]);
    expect(readFileSync(wheel.toString().trim())).toEqual(readFileSync(build('direct')));
  });

  it('needs nothing: no requirement, and a record of every file in it', () => {
    const list = `import sys, zipfile, json
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps({name: archive.read(name).decode() for name in archive.namelist()}))`;
    const files = JSON.parse(execFileSync(pythonPath!, ['-c', list, build('three')], { encoding: 'utf8' }));
    const info = 'vcon_archivist_link-0.2.0.dist-info';
    expect(files[`${info}/METADATA`]).not.toContain('Requires-Dist');
    const recorded = files[`${info}/RECORD`]
      .trim()
      .split('\n')
      .map((line: string) => line.split(',')[0]);
    expect(recorded).toEqual(Object.keys(files));
  });
});
