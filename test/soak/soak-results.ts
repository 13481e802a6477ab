import type { ProcessFigures } from './process-figures.js';

/** One engine's part of a run. */
export interface EngineResults {
  readonly engine: string;
  hours: number;
  /** Processes that were ended with SIGKILL. */
  kills: number;
  /** Crashes of the PostgreSQL server and of Redis under the running service. */
  databaseCrashes: number;
  redisCrashes: number;
  keyRotations: number;
  audits: number;
  /** What was acknowledged, by kind; each was found again. */
  acknowledged: Record<string, number>;
  /** Median of the first and of the last ten starts with one database, over all databases of the run. */
  firstStarts: ProcessFigures | undefined;
  lastStarts: ProcessFigures | undefined;
  /** The invariant that did not hold, with which the run ended; empty if all held. */
  failure: string;
}

/** The results file; a change of its shape raises `schema`. */
export interface SoakResults {
  readonly schema: 1;
  readonly startedAt: string;
  endedAt: string;
  readonly machine: { readonly processors: number; readonly memoryMiB: number; readonly node: string };
  readonly engines: EngineResults[];
}

/** The results in a few lines. */
export function soakText({ engines, startedAt, endedAt }: SoakResults): string {
  const lines = engines.map((each) => {
    const acknowledged = Object.entries(each.acknowledged).map(([kind, count]) => `${count} × ${kind}`);
    const held = each.failure === '' ? 'Every invariant held.' : `FAILED: ${each.failure}`;
    return [
      `${each.engine}: ${each.kills} kills, ${each.databaseCrashes} database crashes, ${each.redisCrashes} Redis crashes, ${each.keyRotations} key rotations and ${each.audits} full audits in ${each.hours.toFixed(2)} hours.`,
      `  Acknowledged and found again: ${acknowledged.join(', ')}.`,
      `  A process after its start, first and last with one database: ${figures(each.firstStarts)}; ${figures(each.lastStarts)}.`,
      `  ${held}`,
    ].join('\n');
  });
  return [`Soak from ${startedAt} to ${endedAt}`, ...lines].join('\n');
}

function figures(all: ProcessFigures | undefined): string {
  if (!all) return 'not measured';
  return `${all.residentMiB} MiB, ${all.handles} handles, ${all.threads} threads, ${all.temporaryFiles} temporary files`;
}
