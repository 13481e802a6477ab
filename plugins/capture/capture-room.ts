import { Gauge, type Registry } from 'prom-client';
import { DiskFull } from '../../src/platform/disk/disk-full.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';

/** Where captured operations are kept. */
const PLACES = ['queue', 'spool'] as const;
type CapturePlace = (typeof PLACES)[number];

/** Whether there is room for captured operations. */
export interface CaptureRoom {
  full(): readonly CapturePlace[];
  /** @throws {DiskFull} while the queue has no room */
  requireInQueue(): void;
  /** @throws {DiskFull} while every capture is refused for lack of room */
  requireSomewhere(): void;
}

/** @param spools operations go to the spool when the queue does not take them */
export function captureRoom(disk: DiskWatch, backend: QueueBackend, spools: boolean): CaptureRoom {
  const queueIsFull = (): boolean => disk.isFull('queue') || (backend.engine !== 'Redis' && disk.isFull('database'));
  const requireInQueue = (): void => {
    if (queueIsFull()) throw new DiskFull('queue');
  };
  return {
    full: () => PLACES.filter((place) => (place === 'queue' ? queueIsFull() : disk.isFull('spool'))),
    requireInQueue,
    requireSomewhere() {
      if (!spools) requireInQueue();
      else if (queueIsFull() && disk.isFull('spool')) throw new DiskFull('spool');
    },
  };
}

/** Reports in a registry which of the places is full. */
export function registerRoomMetrics(registry: Registry, room: Pick<CaptureRoom, 'full'>): void {
  new Gauge({
    name: 'conserver_link_disk_full',
    help: '1 while captured operations are refused because there is no room: in the queue, in the spool',
    labelNames: ['what'],
    registers: [registry],
    collect() {
      const full = room.full();
      for (const what of PLACES) this.set({ what }, full.includes(what) ? 1 : 0);
    },
  });
}
