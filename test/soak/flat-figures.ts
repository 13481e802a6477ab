import { expect } from 'vitest';
import type { ProcessFigures } from './process-figures.js';

/** How much more than a tenth a figure may grow: what a measurement varies by. */
const SPARE = { residentMiB: 40, handles: 8, threads: 4, temporaryFiles: 4 } as const;

/** @param all at least one */
export function median(all: readonly ProcessFigures[]): ProcessFigures {
  const of = (name: keyof ProcessFigures) => all.map((each) => each[name]).sort((a, b) => a - b)[all.length >> 1]!;
  return {
    residentMiB: of('residentMiB'),
    handles: of('handles'),
    threads: of('threads'),
    temporaryFiles: of('temporaryFiles'),
  };
}

/** Fails when the last figures are more than a tenth above the first. */
export function expectFlat(first: ProcessFigures, last: ProcessFigures): void {
  for (const [name, spare] of Object.entries(SPARE) as [keyof ProcessFigures, number][])
    expect([name, last[name], last[name] <= first[name] * 1.1 + spare]).toEqual([name, last[name], true]);
}
