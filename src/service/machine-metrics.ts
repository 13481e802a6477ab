import { Gauge, type Registry } from 'prom-client';
import type { DiskState } from '../platform/disk/disk-state.js';

/** The disks and the clock of this machine. */
export interface MachineMetrics {
  disks(states: readonly DiskState[]): void;
  /** Whether the clock is wrong, and how far it is ahead of the database's. */
  clockCompared(state: { readonly wrong: boolean; readonly offsetMs: number }): void;
}

/** Declares the metrics in this registry. */
export function createMachineMetrics(registry: Registry): MachineMetrics {
  const registers = [registry];
  const diskFull = new Gauge({
    name: 'archivist_disk_full',
    help: '1 while writes to this disk are refused because it is full: database, objects, queue, spool, data',
    labelNames: ['what'],
    registers,
  });
  const diskFree = new Gauge({
    name: 'archivist_disk_free_bytes',
    help: 'Free bytes on a disk of this machine; two that share a file system show the same',
    labelNames: ['what'],
    registers,
  });
  const clockOffset = new Gauge({
    name: 'archivist_clock_offset_seconds',
    help: "How far the clock is ahead of the database's; negative: behind it",
    registers,
  });
  const clockWrong = new Gauge({
    name: 'archivist_clock_wrong',
    help: '1 while nothing is accepted or signed because the clock is wrong',
    registers,
  });
  return {
    disks(states) {
      for (const { use: what, full, freeBytes } of states) {
        diskFull.set({ what }, full ? 1 : 0);
        if (freeBytes !== undefined) diskFree.set({ what }, freeBytes);
      }
    },
    clockCompared({ wrong, offsetMs }) {
      clockWrong.set(wrong ? 1 : 0);
      clockOffset.set(offsetMs / 1000);
    },
  };
}
