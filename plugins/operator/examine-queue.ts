import type { Clock } from '../../src/platform/clock.js';
import { failureReason } from '../../src/platform/explain-failure.js';
import { fetchDirect } from '../../src/platform/http/fetch-direct.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { type DeliveryState, deliveryState } from '../delivery/delivery-metrics.js';
import { pluginsWithoutSharedMemory, SHARE, UNSHARED } from '../delivery/unshared-memory.js';
import { broken, type Finding, ok, shouldChange } from './finding.js';
import { NoQueueYet, QueueInUse } from './operator-error.js';

/** A delivery takes seconds: after an hour something prevents it. */
const LATE_SECONDS = 3600;
const TIMEOUT_MS = 5_000;

type ShownState = Pick<DeliveryState, 'depth' | 'oldestSeconds' | 'deadLetters'>;

/** A queue that an operator's command has opened. */
interface OperatorQueue {
  readonly backend: QueueBackend;
  close(): Promise<void>;
}

/** Reads one metric without labels: NaN if the plugin does not know it now. @throws {Error} if it is absent */
function metric(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`it does not show ${name}`);
  return Number(value);
}

/** What the metrics of a running plugin say about its queue. @throws when it does not answer, or its queue does not */
async function shownState(metricsUrl: string): Promise<ShownState> {
  const answer = await fetchDirect(metricsUrl, {}, TIMEOUT_MS);
  const text = await answer.text();
  const depth = metric(text, 'conserver_link_queue_depth');
  if (Number.isNaN(depth)) throw new Error('it shows no conserver_link_queue_depth, because its queue does not answer');
  return {
    depth,
    oldestSeconds: metric(text, 'conserver_link_oldest_seconds'),
    deadLetters: metric(text, 'conserver_link_dead_letters'),
  };
}

/** @param oldestSeconds NaN while the clock of the plugin is wrong */
function waitingFinding(waiting: string, oldestSeconds: number): Finding {
  if (Number.isNaN(oldestSeconds))
    return broken('clock', `the plugin delivers nothing, because its clock is wrong; ${waiting}`, 'correct the clock');
  if (oldestSeconds <= LATE_SECONDS) return ok('queue', waiting);
  const minutes = Math.round(oldestSeconds / 60);
  return shouldChange('queue', `${waiting}, the oldest for ${minutes} min`, 'check that the plugin and service run');
}

function stateFindings({ depth, oldestSeconds, deadLetters }: ShownState, place: string): Finding[] {
  const waiting = `${depth} waiting for delivery, ${place}`;
  return [
    waitingFinding(waiting, oldestSeconds),
    deadLetters > 0
      ? shouldChange(
          'dead letters',
          `${deadLetters}`,
          'list them with vcon-archivist queue; then run queue replay or queue drop',
        )
      : ok('dead letters', 'none'),
  ];
}

function memoryFindings(plugins: number): Finding[] {
  return plugins < 2 ? [] : [shouldChange('memory', `${plugins} plugins work on this queue, and ${UNSHARED}`, SHARE)];
}

/** The embedded queue is open in another process, which shows the same figures as metrics. Never throws. */
async function examineRunning(metricsUrl: string | undefined, inUse: QueueInUse): Promise<Finding[]> {
  const change = 'stop that process and run doctor again, or set PLUGIN_PORT to its port, whose /metrics show the same';
  if (metricsUrl === undefined) return [shouldChange('queue', `not examined: ${inUse.message}`, change)];
  try {
    return stateFindings(await shownState(metricsUrl), `as ${metricsUrl} shows`);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const found = `not examined: ${inUse.message}. ${metricsUrl} was not read: ${failureReason(cause)}`;
    return [shouldChange('queue', found, change)];
  }
}

/**
 * Reports whether the queue answers, keeps what it is given, and gets rid of it. Adds no job to it, and never throws.
 * @param open may reject; then the reason is the finding
 * @param metricsUrl metrics of the plugin that runs on this machine, read if it has the embedded queue open
 */
export async function examineQueue(
  open: () => Promise<OperatorQueue>,
  metricsUrl: string | undefined,
  clock: Clock,
): Promise<Finding[]> {
  try {
    const { backend, close } = await open();
    try {
      const state = await deliveryState(backend, clock.now());
      const unkept = await backend.confirmDurable().then(() => undefined, failureReason);
      return [
        ...(unkept ? [broken('durability', unkept, 'check the disk and the durability settings of the queue')] : []),
        ...stateFindings(state, `on ${backend.engine}`),
        ...memoryFindings(await pluginsWithoutSharedMemory(backend)),
      ];
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof QueueInUse) return examineRunning(metricsUrl, error);
    const change = 'correct REDIS_URL, DATABASE_URL or DATA_DIR, or start what they name';
    return [broken(error instanceof NoQueueYet ? 'data folder' : 'queue', failureReason(error), change)];
  }
}
