import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPythonCryptography } from '../support/prerequisites.js';
import { type GenuineEvidence, genuineEvidence } from './evidence-sets.js';
import { type AnsweredClaim, type Judges, judgesOf, type OurAnswer } from './judge-row.js';
import { genuineRows, type Row } from './matrix-rows.js';
import { type PythonAnswer, type PythonVerifier, startPythonVerifier } from './python-verifier.js';

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

describe('the splice matrix: evidence of which any part was exchanged, removed, doubled or made null', () => {
  it('verifies as the service made it', async () => {
    expect((await judgedGenuine(genuineRows(genuine.sets))).faults).toEqual([]);
  });
});
