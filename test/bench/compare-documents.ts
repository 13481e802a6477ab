import type { BenchDocument } from './bench-document.js';
import { textTable } from './goal-row.js';

/** Figures of two runs on one machine differ by so much without any change of the program. */
const NOISE = 0.1;

/** One goal of two documents. */
export interface Compared {
  readonly id: string;
  readonly name: string;
  readonly before: number | null;
  readonly now: number | null;
  /** Now ÷ before; null where one of them was not measured. */
  readonly ratio: number | null;
  readonly change: 'better' | 'worse' | 'same' | 'not compared';
}

/** Compares the goals of a document with those of an earlier one, by id. A goal that only one of them has is listed. */
export function compareDocuments(now: BenchDocument, before: BenchDocument): Compared[] {
  const earlier = new Map(before.goals.map((row) => [row.id, row]));
  const later = new Set(now.goals.map(({ id }) => id));
  const gone = before.goals
    .filter(({ id }) => !later.has(id))
    .map((row) => ({ ...row, figure: null, before: row.figure }));
  return [...now.goals.map((row) => ({ ...row, before: earlier.get(row.id)?.figure ?? null })), ...gone].map(
    ({ id, name, better, figure, before: then }) => {
      const ratio = figure === null || !then ? null : figure / then;
      return { id, name, before: then, now: figure, ratio, change: changeOf(ratio, better) };
    },
  );
}

function changeOf(ratio: number | null, better: 'lower' | 'higher'): Compared['change'] {
  if (ratio === null) return 'not compared';
  if (Math.abs(Math.log(ratio)) <= Math.log(1 + NOISE)) return 'same';
  return ratio > 1 === (better === 'higher') ? 'better' : 'worse';
}

/** The comparison as lines of text, after a warning for everything that makes the two runs incomparable. */
export function comparisonText(now: BenchDocument, before: BenchDocument): string {
  const differs = [
    ['mode', before.mode, now.mode],
    ['processor', before.machine.cpu, now.machine.cpu],
    ['cores', before.machine.cores, now.machine.cores],
    ['Node', before.machine.node, now.machine.node],
  ].filter(([, then, today]) => then !== today);
  const warnings = differs.map(
    ([what, then, today]) => `The two runs differ in ${what}: ${then} before, ${today} now.`,
  );
  const cells = compareDocuments(now, before).map(({ name, before: then, now: today, ratio, change }) => [
    name,
    then === null ? '–' : String(then),
    today === null ? '–' : String(today),
    ratio === null ? '' : ratio.toFixed(2),
    change,
  ]);
  const header = ['goal', `before (${before.program})`, `now (${now.program})`, 'ratio', ''];
  return [...warnings, textTable([header, ...cells])].join('\n');
}
