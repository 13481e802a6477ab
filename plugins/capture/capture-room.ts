import { Gauge, type Registry } from 'prom-client';
import { DiskFull } from '../../src/platform/disk/disk-full.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';

/** Where captured operations are kept, and where the plugin remembers them. */
const PLACES = ['queue', 'spool', 'memory'] as const;
type CapturePlace = (typeof PLACES)[number];

/** Whether there is room for captured operations. */
export interface CaptureRoom {
  full(): readonly CapturePlace[];
  /** @throws {DiskFull} while the queue has no room, or the plugin none to remember what it captures */
  requireInQueue(): void;
  /** @throws {DiskFull} while every capture is refused for lack of room */
  requireSomewhere(): void;
}

/**
 * @param of.spools operations go to the spool when the queue does not take them
 * @param of.remembersHere the plugin's memory is on the disk of the spool: what is captured but not remembered makes the
 * vCon's next capture wait
 */
export function captureRoom(
  disk: DiskWatch,
  backend: Pick<QueueBackend, 'engine'>,
  { spools, remembersHere }: { readonly spools: boolean; readonly remembersHere: boolean },
): CaptureRoom {
  const isFull: Readonly<Record<CapturePlace, () => boolean>> = {
    queue: () => disk.isFull('queue') || (backend.engine !== 'Redis' && disk.isFull('database')),
    spool: () => disk.isFull('spool'),
    memory: () => remembersHere && disk.isFull('spool'),
  };
  const requireInQueue = (): void => {
    if (isFull.queue()) throw new DiskFull('queue');
    if (isFull.memory()) throw new DiskFull('data');
  };
  return {
    full: () => PLACES.filter((place) => isFull[place]()),
    requireInQueue,
    requireSomewhere() {
      if (!spools || isFull.spool()) requireInQueue();
    },
  };
}

/** Reports in a registry which of the places is full. */
export function registerRoomMetrics(registry: Registry, room: Pick<CaptureRoom, 'full'>): void {
  new Gauge({
    name: 'conserver_link_disk_full',
    help: '1 while captured operations are refused because there is no room: in the queue, in the spool, for what the plugin remembers',
    labelNames: ['what'],
    registers: [registry],
    collect() {
      const full = room.full();
      for (const what of PLACES) this.set({ what }, full.includes(what) ? 1 : 0);
    },
  });
}
