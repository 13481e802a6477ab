import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/core/bytes.js';
import { createVerdict, findingsOf, type Verdict } from '../../../src/core/verify/verdict.js';
import { processorMs } from '../../support/processor-time.js';
import { drawFrom } from './mutants.js';
import { type MutatedKind, mutatedKinds, told } from './mutated-evidence.js';
import { shownFacts } from './verdict-facts.js';

/** How many mutants of each kind; a night's run may ask for more, under another seed. */
const MUTANTS = Number(process.env['MUTANTS'] ?? 150);
const SEED = Number(process.env['MUTANTS_SEED'] ?? 20261121);
const MOST_MS = 2_000;

const verdictOf = async (kind: MutatedKind, bytes: Uint8Array): Promise<Verdict> =>
  createVerdict(await findingsOf('evidence', () => kind.examine(bytes)));

/** Whether a verdict leaves more open than another one: it may show fewer facts then. */
const leavesMoreOpen = (one: Verdict, other: Verdict): boolean =>
  [...one.missing, ...one.notCovered].some(
    (each) => ![...other.missing, ...other.notCovered].some((known) => JSON.stringify(known) === JSON.stringify(each)),
  );

interface Genuine {
  readonly bytes: Uint8Array;
  readonly verdict: Verdict;
}

/** What is wrong with the verdict on a mutant, held against genuine evidence; undefined when it is right. */
function faultOf(kind: MutatedKind, mutant: Uint8Array, verdict: Verdict, genuine: Genuine): string | undefined {
  const { bytes, verdict: good } = genuine;
  const [facts, known] = [shownFacts(verdict.claims), shownFacts(good.claims)];
  const strange = [...facts].filter((fact) => !known.has(fact));
  if (strange.length > 0) return `it shows what is not so: ${strange.join(', ')}`;
  if (verdict.claims.some(({ piece }) => piece === 'false')) return 'it is said to be the document of the statement';
  if (verdict.outcome !== 'verified') return undefined;
  if (facts.size === known.size && told(kind.core?.(mutant)) !== told(kind.core?.(bytes)))
    return 'it is verified, and what proves in it is another';
  return facts.size === known.size || leavesMoreOpen(verdict, good)
    ? undefined
    : 'it is verified, shows less, and does not say what is open';
}

describe('of thousands of changes of evidence none makes a verdict show what is not so, and none crashes:', () => {
  const all = mutatedKinds();
  it.each([
    'a transparent statement of an asset event',
    'a transparent statement of an asset-free event',
    'a transparent statement that states a record',
    'a transparent statement of a registered statement',
    'the vCon of a transparent statement',
    'a statement',
    'a receipt of a statement log',
    'a receipt of a tenancy log',
    'a receipt of a tenancy log in the stock form',
    'the JSON of an event',
    'a seal',
    'a newer seal beside an older one',
    'a massif and the events in it',
    'a witnessed seal',
    'the proof of a witnessed seal',
    'the place of an event in a witnessed seal',
    'a receipt of consistency',
    'a public asset',
    'a key manifest',
  ])(
    '%s',
    async (name) => {
      const kind = (await all)[name]!;
      const good = await verdictOf(kind, kind.good);
      expect([good.contradictions, good.claims.length > 0]).toEqual([[], true]);
      const genuine: Genuine[] = [{ bytes: kind.good, verdict: good }];
      for (const bytes of kind.others ?? []) genuine.push({ bytes, verdict: await verdictOf(kind, bytes) });
      for (let seed = SEED; seed < SEED + MUTANTS; seed += 1) {
        const mutant = kind.mutate(drawFrom(seed));
        const begun = processorMs();
        const verdict = await verdictOf(kind, mutant).catch((error: unknown) => {
          if (error instanceof SyntaxError) return createVerdict();
          throw new Error(`${name}, mutant ${seed}: ${toHex(mutant.subarray(0, 4000))}`, { cause: error });
        });
        const [fault, ...others] = genuine.map((each) => faultOf(kind, mutant, verdict, each));
        if (fault && others.every(Boolean))
          expect.fail(`${name}, mutant ${seed}: ${fault}: ${toHex(mutant.subarray(0, 4000))}`);
        if (processorMs() - begun > MOST_MS) expect.fail(`${name}, mutant ${seed} takes too long`);
      }
    },
    7_200_000,
  );

  it('are tried of every kind that there is', async () => {
    expect(Object.keys(await all)).toHaveLength(19);
  });
});
