import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPythonCryptography } from '../support/prerequisites.js';
import { type EvidenceSet, type GenuineEvidence, genuineEvidence } from './evidence-sets.js';
import { type AnsweredClaim, type Judges, judgesOf, type OurAnswer } from './judge-row.js';
import { genuineRows, type MatrixPlan, matrixRows, type Row } from './matrix-rows.js';
import { type PythonAnswer, type PythonVerifier, startPythonVerifier } from './python-verifier.js';

/** `SPLICE_MATRIX=full` runs every set with every donor, and the members of bundles' files. */
const IS_FULL = process.env['SPLICE_MATRIX'] === 'full';
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
const SMALL_DONORS = ['A, private asset, vcon_transcribed', 'B, private asset, vcon_created'];

type Facts = ReadonlySet<string>;
interface Answered {
  readonly claims?: readonly AnsweredClaim[];
}

let genuine: GenuineEvidence;
let python: PythonVerifier | undefined;
let judges: Judges;

beforeAll(async () => {
  genuine = await genuineEvidence();
  python = hasPythonCryptography ? startPythonVerifier() : undefined;
  judges = judgesOf(genuine, python);
}, 240_000);
afterAll(async () => {
  judges?.remove();
  await python?.close();
});

/** Each fact for itself, so that an answer with fewer of them can be compared; what proves it belongs to it. */
function factsOf({ claims = [] }: Answered): Facts {
  return new Set(
    claims.flatMap(({ kind, facts, by }) => {
      const { members = {}, ...others } = facts;
      const proofs = by.flatMap(({ type, ...proof }) => (type === 'digest' ? [] : named(`${kind} ${type}`, proof)));
      return [...named(kind, others), ...named(kind, members), ...proofs];
    }),
  );
}

function named(kind: string, values: object): string[] {
  return Object.entries(values).map(([name, value]) => `${kind} ${name} ${canonical(value)}`);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort())
      : each,
  );
}

const key = (row: Pick<Row, 'case' | 'set'>) => `${row.case}\0${row.set.name}`;

/** What the genuine evidence is answered with. */
interface Genuine {
  readonly answers: ReadonlyMap<string, OurAnswer>;
  /** Of all sets together: a refusal may still print what another set proves. */
  readonly all: Facts;
}

function isNamed({ changed }: Row, ...answers: readonly OurAnswer[]): boolean {
  if (!changed) return false;
  const names = changed.member.map((_, at) => changed.member.slice(0, at + 1).join('.'));
  const inEvent = changed.member.map((_, at) => changed.member.slice(1, at + 1).join('.'));
  return answers.some(({ not_covered }) =>
    not_covered.some(({ piece, members }) =>
      members.length === 0
        ? piece === changed.file || piece.endsWith(`/${changed.file}`) || changed.file.startsWith(`${piece}.`)
        : members.some((member) => names.includes(member) || inEvent.includes(member)),
    ),
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
  return isNamed(row, answer, own) ? undefined : 'verified, and what was changed is not named as not covered';
}

function differenceOf(ours: OurAnswer, theirs: PythonAnswer | undefined): string | undefined {
  if (!theirs) return undefined;
  if (ours.outcome !== theirs.outcome) {
    const why = (theirs.contradictions ?? []).map(({ code, detail }) => `${code}: ${detail}`);
    const own = ours.contradictions.map(({ code, detail }) => `${code}: ${detail}`);
    return `ours ${ours.outcome} (${own.join('; ')}), Python's ${theirs.outcome} (${theirs.detail ?? why.join('; ')})`;
  }
  if (!('schema' in ours)) return undefined;
  const [one, other] = [factsOf(ours), factsOf(theirs)];
  const apart = [...[...one].filter((fact) => !other.has(fact)), ...[...other].filter((fact) => !one.has(fact))];
  return apart.length > 0 ? `facts differ: ${apart.join(', ')}` : undefined;
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
  if (IS_FULL) return { sets, donors: sets, bundleMembers: true };
  const named = (names: readonly string[]): EvidenceSet[] =>
    sets.filter(({ name }) => names.some((each) => name.startsWith(each)));
  return { sets: named(SMALL), donors: named(SMALL_DONORS), bundleMembers: false };
}

describe('the splice matrix: evidence of which any part was exchanged, removed, doubled or made null', () => {
  it('verifies as the service made it', async () => {
    expect((await judgedGenuine(genuineRows(genuine.sets))).faults).toEqual([]);
  });

  it(
    'is refused or incomplete, or the verdict names what was changed as not covered; both verifiers agree',
    async () => {
      const known = await judgedGenuine(genuineRows(genuine.sets));
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
