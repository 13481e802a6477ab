import type { DiskState } from '../../src/platform/disk/disk-state.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import { broken, type Finding, ok } from './finding.js';

const MEGABYTE = 1_000_000;

function roomText(states: readonly DiskState[]): string {
  const folders = states.filter(({ freeBytes }) => freeBytes !== undefined);
  return folders.map(({ use, freeBytes }) => `${use}: ${Math.floor(freeBytes! / MEGABYTE)} MB free`).join(', ');
}

/** Checks whether there is room for captured operations. Never throws. */
export async function examineRoom(disk: DiskWatch): Promise<Finding[]> {
  await disk.look();
  const states = disk.states();
  const full = states.filter((state) => state.full);
  if (full.length === 0) return [ok('disk', roomText(states))];
  const names = full.map(({ use }) => use).join(', ');
  const change = 'make room or enlarge it: docs/operate/runbooks.md#the-disk-is-full';
  return [broken('disk', `full: ${names}; captures that need it are refused (${roomText(states)})`, change)];
}
