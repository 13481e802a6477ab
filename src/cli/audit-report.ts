import type { AuditedLog } from '../ledger/audit/audit-log.js';
import { AUDITED_TABLES, coverageLines } from './audited-columns.js';
import { counted } from './counted.js';
import { firstLines } from './first-lines.js';

/** The result of an audit. */
export interface AuditReport {
  readonly sound: boolean;
  readonly logs: {
    name: string;
    leaves: string;
    seals: string;
    faults: number;
    /** The first leaf that this run read. Those before it rest on the state file of an earlier run. */
    from: string;
  }[];
  /** When the earlier run began that this one continued; undefined if this run read everything. */
  readonly continues: string | undefined;
  readonly leavesPerSecond: number;
  readonly faults: string[];
  /** Whether the root key was known from a source other than the database. */
  readonly rootKnown: boolean;
  /** The columns that the audit covers and those that it does not. */
  readonly coverage: typeof AUDITED_TABLES;
}

/** Something that an audit found, and the log or the part in which it did. */
export interface AuditFault {
  readonly log: string;
  readonly what: string;
}

/** How an audit was made. */
interface AuditRun {
  /** When the earlier run began that this one could continue. */
  readonly began: Date | undefined;
  readonly seconds: number;
  readonly rootKnown: boolean;
}

const MOST_FAULTS = 200;

/** Makes the report of an audit. Two audits of the same deployment have the same faults in the same order. */
export function auditReport(audited: readonly AuditedLog[], faults: readonly AuditFault[], run: AuditRun): AuditReport {
  // Logs are audited beside each other, so their faults are found in an order that differs between runs.
  const ofLogs = new Map<string, string[]>(audited.map(({ name }) => [name, []]));
  const others: string[] = [];
  for (const { log, what } of faults) (ofLogs.get(log) ?? others).push(`${log}: ${what}`);
  const leaves = audited.reduce((sum, log) => sum + Number(log.leaves - log.from), 0);
  const continues = audited.some(({ from }) => from !== 0n) ? run.began?.toISOString() : undefined;
  return {
    sound: faults.length === 0,
    logs: audited.map((log) => ({
      name: log.name,
      leaves: String(log.leaves),
      seals: String(log.seals),
      faults: ofLogs.get(log.name)!.length,
      from: String(log.from),
    })),
    continues,
    leavesPerSecond: Math.round(leaves / run.seconds),
    faults: [...[...ofLogs.values()].flat(), ...others],
    rootKnown: run.rootKnown,
    coverage: AUDITED_TABLES,
  };
}

/** What a verdict does not cover because an earlier run read it. */
function continuedText({ logs, continues }: AuditReport): string[] {
  if (continues === undefined) return [];
  return [
    '',
    `Continued from the state file of an audit that began at ${continues}. This run did not read:`,
    ...logs.filter(({ from }) => from !== '0').map(({ name, from }) => `  ${name}: leaves 0 to ${BigInt(from) - 1n}`),
    'It checked that their seals are still the ones that were audited. For these leaves the verdict rests on the file: events and statements that changed since then are not noticed, and neither is a changed file. To rely on nothing else, delete the file and audit again.',
  ];
}

/** The report for people, as lines. Only the first faults are in it. */
export function auditReportLines(report: AuditReport, options: { keysGiven: boolean; verbose: boolean }): string[] {
  const { sound, logs, leavesPerSecond, faults, rootKnown, continues } = report;
  const lines = logs.map((log) => {
    const verdict = log.faults === 0 ? 'ok    ' : 'FAULTY';
    const counts = [counted(log.leaves, 'leaf', 'leaves'), counted(log.seals, 'seal')];
    return `${verdict}  ${log.name}: ${[...counts, ...(log.faults > 0 ? [counted(log.faults, 'fault')] : [])].join(', ')}`;
  });
  const fromDatabase = options.keysGiven
    ? 'Only the keys of seals and receipts were given. The keys of issuers, checkpoints and the chain'
    : 'The keys';
  const keys = rootKnown
    ? []
    : [
        '',
        `${fromDatabase} were read from the database. To trust only keys that you obtained elsewhere, give --root <fingerprint> or set KEYS_DIR.`,
      ];
  return [
    ...(options.verbose ? [...coverageLines(), ''] : []),
    ...lines,
    ...(faults.length > 0 ? ['', ...firstLines(faults, MOST_FAULTS)] : []),
    '',
    `${counted(leavesPerSecond, 'leaf', 'leaves')} per second.`,
    ...keys,
    ...continuedText(report),
    '',
    sound
      ? continues === undefined
        ? 'SOUND.'
        : 'SOUND, resting on an earlier run for the leaves above.'
      : `NOT SOUND: ${counted(faults.length, 'fault')}.`,
  ];
}
