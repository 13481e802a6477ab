import type { KeptOperation, KeptOperationDetails } from '../../../plugins/operator/kept-operation.js';
import type { QueueInventory } from '../../../plugins/operator/queue-inventory.js';
import type { DiskUse } from '../../platform/disk/disk-full.js';

const STATES: Readonly<Record<string, string>> = {
  failed: 'dead letter',
  completed: 'delivered',
  delayed: 'waits for its next attempt',
  waiting: 'waits',
  active: 'being delivered',
};

/** A reason came from another machine: it must not move the cursor. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

function age(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

function letterLines(letter: KeptOperation): string[] {
  return [
    '',
    `  ${letter.job}`,
    `    ${letter.operation} of ${letter.subject}, kept ${letter.keptAt}`,
    `    ${printable(letter.reason ?? 'no reason is kept')}`,
  ];
}

/** A disk of the plugin that has no room; `freeBytes` is undefined for the disk of a server. */
export interface FullDisk {
  readonly disk: DiskUse;
  readonly freeBytes: number | undefined;
}

function fullDiskText({ disk, freeBytes }: FullDisk): string {
  const free = freeBytes === undefined ? '' : `, ${Math.floor(freeBytes / (1024 * 1024))} MiB free`;
  return `DISK FULL             ${disk}${free}: nothing more is stored on it until there is room`;
}

export function notLookedAtText(place: string): string {
  return `not looked at: ${printable(place)}`;
}

/** Says how many are not listed, unless none was to be listed. */
function moreLines(listed: number, count: number): string[] {
  return count > listed && listed > 0 ? ['', `  and ${count - listed} more: --limit`] : [];
}

export function inventoryLines(inventory: QueueInventory & { readonly fullDisks: readonly FullDisk[] }): string[] {
  const { depth, oldestSeconds, deadLetters, letters, engine, operations, spool, setAside, setAsideCount } = inventory;
  return [
    `Queue on ${engine}`,
    ...inventory.fullDisks.map(fullDiskText),
    `waiting for delivery  ${depth}${depth === 0 ? '' : `, the oldest for ${age(oldestSeconds)}`}`,
    ...Object.entries(operations).map(
      ([operation, each]) =>
        `  ${printable(operation).padEnd(28)}${each.depth}, the oldest for ${age(each.oldestSeconds)}`,
    ),
    ...(spool.depth === 0
      ? []
      : [`waiting on this disk  ${spool.depth}, the oldest for ${age(spool.oldestSeconds)}, in ${spool.folder}`]),
    `dead letters          ${deadLetters}`,
    ...letters.flatMap(letterLines),
    ...moreLines(letters.length, deadLetters),
    ...(setAsideCount === 0 ? [] : ['', `set aside             ${setAsideCount}`]),
    ...setAside.flatMap(({ id, reason }) => [`  ${printable(id)}`, `    ${printable(reason)}`]),
    ...moreLines(setAside.length, setAsideCount),
    ...inventory.notLookedAt.map(notLookedAtText),
  ];
}

export function operationLines(kept: KeptOperationDetails): string[] {
  const lines: [string, string][] = [
    ['job', kept.job],
    ['state', STATES[kept.state] ?? kept.state],
    ['operation', kept.operation],
    ['subject', kept.subject],
    ['payload', kept.payload],
    ['kept', kept.keptAt],
    ['attempts', String(kept.attempts)],
    ...(kept.reason === undefined ? [] : [['reason', kept.reason] as [string, string]]),
  ];
  const attributes = Object.entries(kept.attributes).map(([name, value]) => `  ${name} = ${printable(value)}`);
  return [...lines.map(([name, value]) => `${name.padEnd(10)}${printable(value)}`), 'attributes', ...attributes];
}
