import type { ProcessFigures } from './process-figures.js';

/** One engine's part of a run. */
export interface EngineResults {
  readonly engine: string;
  hours: number;
  /** Each began empty; at its end everything it ever acknowledged was checked. */
  databases: number;
  /** Processes of the service that were ended with SIGKILL. */
  kills: number;
  /** Those of them that did not listen yet. */
  killsOfAStart: number;
  /** Crashes of the PostgreSQL server and of Redis under the running service. */
  databaseCrashes: number;
  redisCrashes: number;
  keyRotations: number;
  audits: number;
  /** Where the time went. */
  readonly seconds: { load: number; starts: number; checks: number; audits: number };
  /** What was acknowledged, by kind; each was found again. */
  readonly acknowledged: Record<string, number>;
  /** Receipts and transparent statements; each was the same, byte for byte, whenever it was fetched again. */
  proofs: number;
  /** Median of the first and of the last ten starts with one database, over all databases of the run. */
  firstStarts: ProcessFigures | undefined;
  lastStarts: ProcessFigures | undefined;
  /** The invariant that did not hold, with which the run ended; empty if all held. */
  failure: string;
}

export function emptyResults(engine: string): EngineResults {
  return {
    engine,
    hours: 0,
    databases: 0,
    kills: 0,
    killsOfAStart: 0,
    databaseCrashes: 0,
    redisCrashes: 0,
    keyRotations: 0,
    audits: 0,
    seconds: { load: 0, starts: 0, checks: 0, audits: 0 },
    acknowledged: {},
    proofs: 0,
    firstStarts: undefined,
    lastStarts: undefined,
    failure: '',
  };
}

/** The results file; a change of its shape raises `schema`. */
export interface SoakResults {
  readonly schema: 2;
  readonly startedAt: string;
  endedAt: string;
  readonly machine: { readonly processors: number; readonly memoryMiB: number; readonly node: string };
  readonly engines: EngineResults[];
}

/** The results in a few lines. */
export function soakText({ engines, startedAt, endedAt, machine }: SoakResults): string {
  return [
    `Soak from ${startedAt} to ${endedAt}, ${machine.processors} processors, Node.js ${machine.node}`,
    ...engines.map(engineText),
  ].join('\n');
}

function engineText(each: EngineResults): string {
  const acknowledged = Object.entries(each.acknowledged).map(([kind, count]) => `${count} × ${kind}`);
  const held = each.failure === '' ? 'Every invariant held.' : `FAILED: ${each.failure}`;
  const seconds = Object.entries(each.seconds).map(([name, sum]) => `${name} ${(sum / each.kills).toFixed(1)}`);
  return [
    `${each.engine}: ${each.kills} kills (${each.killsOfAStart} of them during a start), ${each.databaseCrashes} database crashes, ${each.redisCrashes} Redis crashes, ${each.keyRotations} key rotations and ${each.audits} audits on ${each.databases} databases in ${each.hours.toFixed(2)} hours.`,
    `  Seconds per kill: ${seconds.join(', ')}.`,
    `  Acknowledged and found again: ${acknowledged.join(', ')}. Proofs fetched and unchanged: ${each.proofs}.`,
    `  A process after its start, first and last with one database: ${figures(each.firstStarts)}; ${figures(each.lastStarts)}.`,
    `  ${held}`,
  ].join('\n');
}

function figures(all: ProcessFigures | undefined): string {
  if (!all) return 'not measured';
  return `${all.residentMiB} MiB, ${all.handles} handles, ${all.threads} threads, ${all.temporaryFiles} temporary files`;
}
