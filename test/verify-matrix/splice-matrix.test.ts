import { writeFileSync } from 'node:fs';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ShownClaim, shownFacts } from '../core/verify/verdict-facts.js';
import { hasPythonCryptography } from '../support/prerequisites.js';
import { type EvidenceSet, type GenuineEvidence, genuineEvidence } from './evidence-sets.js';
import { type Judges, judgesOf, type OurAnswer } from './judge-row.js';
import { genuineRows, type MatrixPlan, matrixRows, type Row } from './matrix-rows.js';
import { type PythonAnswer, type PythonVerifier, startPythonVerifier } from './python-verifier.js';

/** `SPLICE_MATRIX=full` runs every set with every donor, and the members of bundles' files. */
const IS_FULL = process.env['SPLICE_MATRIX'] === 'full';
const BUNDLES: MatrixPlan['bundles'] = IS_FULL ? 'members' : 'files';
/** A file for every false verdict and every difference between the verifiers. */
const REPORT = process.env['SPLICE_MATRIX_REPORT'];
/** One of each kind: other sets stand for the same code. */
const SMALL = [
  'A, private asset, vcon_created',
  'A, public form',
  'A, asset-free, vcon_created',
  'C, one leaf',
  'registered',
];
const SMALL_DONORS = ['B, private asset, vcon_created'];
const SMALL_PARTNERS = [...SMALL, ...SMALL_DONORS, 'A, private asset, vcon_transcribed'];

type Facts = ReadonlySet<string>;
interface Answered {
  readonly claims?: readonly ShownClaim[];
}

let genuine: GenuineEvidence;
let python: PythonVerifier | undefined;
let judges: Judges;
let known: Awaited<ReturnType<typeof judgedGenuine>>;

beforeAll(async () => {
  genuine = await genuineEvidence();
  python = hasPythonCryptography ? startPythonVerifier() : undefined;
  judges = judgesOf(genuine, python);
  known = await judgedGenuine(genuineRows(genuine.sets, BUNDLES));
}, 240_000);
afterAll(async () => {
  judges?.remove();
  await python?.close();
});

function factsOf({ claims = [] }: Answered): Facts {
  return shownFacts(claims);
}

const key = (row: Pick<Row, 'case' | 'set'>) => `${row.case}\0${row.set.name}`;

/** What the genuine evidence is answered with. */
interface Genuine {
  readonly answers: ReadonlyMap<string, OurAnswer>;
  /** Of all sets together: a refusal may still print what another set proves. */
  readonly all: Facts;
}

/** How verdicts name a member of a file: a path in JSON, an unprotected header of a COSE message. */
function namesOf(member: readonly string[]): string[] {
  const header =
    member[0] === '0' && member[1] === '1' ? [member[2] === undefined ? 'header' : `header ${member[2]}`] : [];
  // The event inside a transparent statement is a piece of its own.
  const paths = [member, member.slice(1)].flatMap((of) => of.map((_, at) => of.slice(0, at + 1).join('.')));
  return [...header, ...paths];
}

function isNamed({ changed }: Row, ...answers: readonly OurAnswer[]): boolean {
  if (!changed) return false;
  const names = namesOf(changed.member);
  return answers.some(({ not_covered }) =>
    not_covered.some(({ piece, members }) =>
      members.length === 0
        ? piece === changed.file || piece.endsWith(`/${changed.file}`)
        : members.some(
            (member) => names.includes(member) || (names.includes('header') && member.startsWith('header ')),
          ),
    ),
  );
}

/**
 * `null` for an empty path is another spelling of the same proof (docs/formats/receipts.md): Go encodes it so. A receipt
 * may be there twice.
 */
function isSameReading({ changed, what, case: of }: Row): boolean {
  const member = changed?.member.join('.');
  if (member?.startsWith('0.1.394.') && changed!.member.length === 4) return what.endsWith(' doubled');
  return of === 'event and receipt with a map' && member === '0.1.396.-1.0.2' && what.endsWith(' null');
}

/** An event may be absent: then the verdict says so. */
function isNamedAsMissing({ changed, what }: Row, { missing }: OurAnswer): boolean {
  return (
    changed?.member.join('.') === '0.1.event' &&
    what.endsWith(' removed') &&
    missing.some((each) => each.what === 'event')
  );
}

/** What is wrong with an answer to changed evidence; undefined when it is right. */
function faultOf(row: Row, answer: OurAnswer, known: Genuine): string | undefined {
  const own = known.answers.get(key(row))!;
  const strange = [...factsOf(answer)].filter((fact) => !known.all.has(fact));
  if (strange.length > 0) return `shows a fact that no genuine evidence proves: ${strange.join(', ')}`;
  if (answer.outcome !== 'verified') return undefined;
  const ownFacts = factsOf(own);
  const foreign = [...factsOf(answer)].filter((fact) => !ownFacts.has(fact));
  if (foreign.length > 0) return `verified, and shows a fact of other evidence: ${foreign.join(', ')}`;
  return isNamed(row, answer, own) || isNamedAsMissing(row, answer) || isSameReading(row)
    ? undefined
    : 'verified, and what was changed is not named as not covered';
}

function differenceOf(ours: OurAnswer, theirs: PythonAnswer | undefined): string | undefined {
  if (!theirs) return undefined;
  if (ours.outcome !== theirs.outcome) {
    const why = (theirs.contradictions ?? []).map(({ code, detail }) => `${code}: ${detail}`);
    const own = ours.contradictions.map(({ code, detail }) => `${code}: ${detail}`);
    return `ours ${ours.outcome} (${own.join('; ')}), Python's ${theirs.outcome} (${theirs.detail ?? why.join('; ')})`;
  }
  const [one, other] = [factsOf(ours), factsOf(theirs)];
  const apart = [...[...one].filter((fact) => !other.has(fact)), ...[...other].filter((fact) => !one.has(fact))];
  if (apart.length > 0) return `facts differ: ${apart.join(', ')}`;
  const said = [ours, theirs].map(({ remarks = [] }) => remarks.map(({ what }) => what).join());
  return said[0] === said[1] ? undefined : `remarks differ: ${said.join('; ')}`;
}

async function judgedGenuine(rows: readonly Row[]): Promise<Genuine & { readonly faults: string[] }> {
  const answers = new Map<string, OurAnswer>();
  const faults: string[] = [];
  for (const row of rows) {
    const { ours, python: theirs } = await judges.judge(row.files);
    answers.set(key(row), ours);
    const why = ours.contradictions.map(({ code, detail }) => `${code}: ${detail}`).join('; ');
    if (ours.outcome !== 'verified') faults.push(`${row.case}, ${row.set.name}: ${ours.outcome} ${why}`);
    const difference = differenceOf(ours, theirs);
    if (difference) faults.push(`${row.case}, ${row.set.name}: ${difference}`);
  }
  return { answers, all: new Set([...answers.values()].flatMap((each) => [...factsOf(each)])), faults };
}

function plan(): MatrixPlan {
  const { sets } = genuine;
  if (IS_FULL) return { sets, donors: sets, partners: sets, bundles: BUNDLES };
  const named = (names: readonly string[]): EvidenceSet[] =>
    sets.filter(({ name }) => names.some((each) => name.startsWith(each)));
  return { sets: named(SMALL), donors: named(SMALL_DONORS), partners: named(SMALL_PARTNERS), bundles: BUNDLES };
}

describe('the splice matrix: evidence of which any part was exchanged, removed, doubled or made null', () => {
  it('verifies as the service made it', () => {
    expect(known.faults).toEqual([]);
  });

  it('verifies as a bundle that was zipped with its folder', async () => {
    const faults: string[] = [];
    for (const { name, bundle } of genuine.sets) {
      const files = Object.entries(bundle).map(([path, bytes]) => [`evidence/${path}`, bytes]);
      const { ours, python: theirs } = await judges.judge({ 'evidence.zip': zipSync(Object.fromEntries(files)) });
      const why = ours.outcome === 'verified' ? differenceOf(ours, theirs) : ours.outcome;
      if (why) faults.push(`${name}: ${why}`);
    }
    expect(faults).toEqual([]);
  });

  it(
    'is refused or incomplete, or the verdict names what was changed as not covered; both verifiers agree',
    async () => {
      const faults: string[] = [];
      const counts: Record<string, number> = {};
      for (const row of matrixRows(plan())) {
        const { ours, python: theirs } = await judges.judge(row.files);
        const count = `${row.case}: ${ours.outcome}`;
        counts[count] = (counts[count] ?? 0) + 1;
        const told = `${row.case} | ${row.set.name} | ${row.what}`;
        for (const fault of [faultOf(row, ours, known), differenceOf(ours, theirs)])
          if (fault) faults.push(`${told} | ${fault}`);
      }
      if (REPORT) writeFileSync(REPORT, `${JSON.stringify(counts, null, 2)}\n${faults.join('\n')}\n`);
      expect(faults.slice(0, 40)).toEqual([]);
      expect(faults).toHaveLength(0);
    },
    IS_FULL ? 7_200_000 : 600_000,
  );
});
