import { z } from 'zod';
import { GOALS, type Goal, type GoalId } from './goals.js';
import { median, rounded } from './statistics.js';

/** What a measurement found for one goal. */
export interface Finding {
  /** Of each round; the figure is their median. */
  readonly rounds: readonly number[];
  /** What this machine forbids: the best figure that is possible here, and what sets it. */
  readonly floor?: { readonly figure: number; readonly why: string } | undefined;
  /** What a reader has to know to judge the figure, such as how much was measured. */
  readonly note?: string;
}

/** A goal's finding, or why there is none. */
export type Found = Finding | { readonly notMeasured: string };

/** One goal in a document of the benchmark. This form is stable: two versions of the program are compared by it. */
export const goalRowSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  unit: z.string(),
  better: z.enum(['lower', 'higher']),
  goal: z.number(),
  figure: z.number().nullable(),
  met: z.boolean().nullable(),
  rounds: z.array(z.number()),
  floor: z.strictObject({ figure: z.number(), why: z.string() }).nullable(),
  /** Documents of earlier versions have none. */
  note: z.string().nullable().default(null),
  notMeasured: z.string().nullable(),
});
export type GoalRow = z.infer<typeof goalRowSchema>;

/** Returns one row for each goal, in the order of the goals. @param missing gives the reason where nothing was found */
export function goalRows(found: ReadonlyMap<GoalId, Found>, missing: (id: GoalId) => Found): GoalRow[] {
  return (Object.keys(GOALS) as GoalId[]).map((id) => row(id, GOALS[id], found.get(id) ?? missing(id)));
}

function row(id: GoalId, { name, unit, better, goal }: Goal, found: Found): GoalRow {
  const same = { id, name, unit, better, goal };
  if ('notMeasured' in found)
    return { ...same, figure: null, met: null, rounds: [], floor: null, note: null, ...found };
  const figure = median(found.rounds);
  return {
    ...same,
    figure: rounded(figure),
    met: better === 'lower' ? figure <= goal : figure >= goal,
    rounds: found.rounds.map(rounded),
    floor: found.floor ? { ...found.floor, figure: rounded(found.floor.figure) } : null,
    note: found.note ?? null,
    notMeasured: null,
  };
}

/** The floor, and by which factor the figure is away from it. */
function floorText({ better, figure, floor }: GoalRow): string[] {
  if (!floor || figure === null) return [];
  const factor = better === 'lower' ? figure / floor.figure : floor.figure / figure;
  return [`floor ${floor.figure} (a factor of ${rounded(factor)}): ${floor.why}`];
}

/** The rows as lines of text: each figure beside its goal and its floor. */
export function goalTable(rows: readonly GoalRow[]): string {
  const cells = rows.map((row) => {
    const { name, figure, goal, better, met, note, notMeasured, unit } = row;
    return [
      name,
      figure === null ? '–' : String(figure),
      `${better === 'lower' ? '≤' : '≥'} ${goal}`,
      met === null ? '' : met ? 'met' : 'missed',
      notMeasured ?? unit,
      [...floorText(row), ...(note === null ? [] : [note])].join('; '),
    ];
  });
  return textTable([['goal', 'figure', 'goal', '', 'unit', ''], ...cells]);
}

/** Pads cells to columns. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
