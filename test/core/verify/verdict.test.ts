import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { VerificationError } from '../../../src/core/errors.js';
import type { Claim } from '../../../src/core/verify/claim.js';
import {
  contradiction,
  createVerdict,
  findingsOf,
  missing,
  notCovered,
  requireVerified,
  VERDICT_SCHEMA,
  verdictDocument,
  verdictWithin,
} from '../../../src/core/verify/verdict.js';

const claim: Claim = { kind: 'event', piece: 'event', facts: { uuid: 'e1' }, by: [] };
const proven = { claims: [claim] };
const refused = contradiction('event', new VerificationError('event_mismatch', 'they differ', 'payload'));

describe('the outcome of a verdict', () => {
  it.each([
    ['verified when something is proven and nothing is left', [proven], 'verified'],
    ['incomplete when nothing is proven', [], 'incomplete'],
    [
      'verified beside members that no log covers',
      [proven, notCovered('event', 'by_design', '', ['from'])],
      'verified',
    ],
    ['verified beside explanations', [proven, notCovered('README.txt', 'explanation', '')], 'verified'],
    ['verified beside what was not given', [proven, missing('document', '')], 'verified'],
    ['incomplete beside unproven evidence', [proven, notCovered('event', 'unproven', '')], 'incomplete'],
    ['refused beside a contradiction', [proven, refused], 'refused'],
    ['refused whatever else is unproven', [refused, notCovered('event', 'unproven', ''), proven], 'refused'],
  ] as const)('is %s', (_, findings, outcome) => {
    expect(createVerdict(...findings).outcome).toBe(outcome);
  });

  it('follows from the pieces when verdicts are merged, in either order', () => {
    const good = createVerdict(proven);
    const bad = createVerdict(refused);
    expect(createVerdict(good, bad)).toMatchObject({
      outcome: 'refused',
      claims: [claim],
      contradictions: { length: 1 },
    });
    expect(createVerdict(bad, good).outcome).toBe('refused');
    expect(createVerdict(good, createVerdict(notCovered('x', 'unproven', ''))).outcome).toBe('incomplete');
    expect(createVerdict(good, good)).toEqual(good);
  });
});

describe('a verdict', () => {
  it('about pieces in a container names them there, the pieces that digests stand in too', () => {
    const document: Claim = {
      kind: 'document',
      piece: 'document',
      facts: {},
      by: [{ type: 'digest', of: 'statement', member: 'payload_hash' }],
    };
    const inside = verdictWithin(
      'a',
      createVerdict(proven, { claims: [document] }, refused, notCovered('x', 'unproven', '')),
    );
    expect(inside.claims.map(({ piece }) => piece)).toEqual(['a/event', 'a/document']);
    expect(inside.claims[1]!.by).toMatchObject([{ of: 'a/statement' }]);
    expect([inside.contradictions[0]!.piece, inside.notCovered[0]!.piece]).toEqual(['a/event', 'a/x']);
  });

  it('holds a refusal as a finding, and lets any other error go on', async () => {
    const error = new VerificationError('leaf_mismatch', 'another leaf');
    const found = await findingsOf('event', () => Promise.reject(error));
    expect(found).toEqual({ contradictions: [{ code: 'leaf_mismatch', piece: 'event', detail: 'another leaf' }] });
    const bug = new RangeError('a bug');
    await expect(findingsOf('event', () => Promise.reject(bug))).rejects.toBe(bug);
  });

  it('counts a check that could not be done as unproven evidence, not as a contradiction', async () => {
    for (const code of ['insufficient_data', 'unsupported', 'receipt_missing'] as const) {
      const found = await findingsOf('log', () => Promise.reject(new VerificationError(code, 'not reached')));
      expect(found).toEqual({ notCovered: [{ piece: 'log', members: [], why: 'unproven', detail: 'not reached' }] });
    }
  });

  it('throws unless it is verified where a caller wants an error', () => {
    expect(requireVerified(createVerdict(proven))).toMatchObject({ outcome: 'verified' });
    expect(() => requireVerified(createVerdict(proven, refused))).toThrow(
      expect.objectContaining({ name: 'VerificationError', code: 'event_mismatch', message: 'they differ' }),
    );
    expect(() => requireVerified(createVerdict(proven, notCovered('x', 'unproven', 'no receipt')))).toThrow(
      expect.objectContaining({ code: 'insufficient_data', message: 'no receipt' }),
    );
    expect(() => requireVerified(createVerdict())).toThrow(expect.objectContaining({ code: 'insufficient_data' }));
  });

  it('compares the times of an asset-free event although its record states one and its leaf the other', () => {
    const facts = [{ accepted: '2026-01-01T11:00:00.000Z' }, { committed: '2026-01-01T10:00:00.000Z' }];
    const claims = facts.map((each) => ({ ...claim, kind: 'event' as const, piece: 'event', facts: each }));
    expect(createVerdict({ claims }).remarks).toMatchObject([{ what: 'accepted_after_committed', piece: 'event' }]);
    const apart = claims.map((each, at) => ({ ...each, piece: `event ${at}` }));
    expect(createVerdict({ claims: apart }).remarks).toEqual([]);
    expect(verdictWithin('a.cose', createVerdict({ claims })).remarks).toMatchObject([{ piece: 'a.cose/event' }]);
  });

  it('has a JSON form that names its schema, its outcome and every part', () => {
    const verdict = createVerdict(proven, refused, notCovered('x', 'by_design', 'd', ['from']), missing('issuer', 'm'));
    expect(JSON.parse(JSON.stringify(verdictDocument(verdict, [{ file: 'e.json', kind: 'event' }])))).toEqual({
      schema: VERDICT_SCHEMA,
      outcome: 'refused',
      files: [{ file: 'e.json', kind: 'event' }],
      claims: [claim],
      contradictions: [{ code: 'event_mismatch', piece: 'event', member: 'payload', detail: 'they differ' }],
      not_covered: [{ piece: 'x', members: ['from'], why: 'by_design', detail: 'd' }],
      missing: [{ what: 'issuer', detail: 'm' }],
      remarks: [],
    });
  });
});

it.each(['errors.ts', 'evidence/evidence-kind.ts'])(
  'the page on verdicts names every code of a refusal, and every kind of a file: those of %s',
  (file) => {
    const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    const names = [...read(`src/core/${file}`).matchAll(/^ {2}\| '(\w+)'/gm)].map(([, name]) => name);
    const page = read('docs/formats/verdict.md');
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => name !== 'document' && !page.includes(`\`${name}\``))).toEqual([]);
  },
);
