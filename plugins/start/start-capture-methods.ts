import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/platform/clock.js';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import type { OperationMetrics } from '../capture/capture-metrics.js';
import type { Capture, CaptureOperation } from '../capture/capture-operation.js';
import type { Spool } from '../capture/spool.js';
import { startKeyspaceEndings } from '../endings/keyspace-endings.js';
import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';
import type { EndingFound } from '../operation/ending.js';
import type { PluginSettings } from '../settings/plugin-settings.js';
import { DEFAULT_STREAM, startStreamConsumer } from '../stream/stream-consumer.js';
import type { EventsAbout } from '../tap/capture-gaps.js';
import { startEgressTap } from '../tap/egress-tap.js';
import { startGapReport } from '../tap/start-gap-report.js';
import type { LabelSecret } from './admit-operation.js';
import { endingRecorder } from './ending-recorder.js';

/** Something that runs until it is closed. */
export interface Closable {
  close(): Promise<void>;
}

/**
 * Starts everything that reads the conserver's Redis: the stream of the link and the tracer, the tap, the endings of
 * vCons.
 * @param started receives each part that runs, so that a failure half-way can close them
 */
export async function startCaptureMethods(
  parts: {
    readonly settings: PluginSettings;
    readonly backend: QueueBackend;
    readonly memory: Memory;
    /** What was captured and what left; undefined without a tap. */
    readonly passages: Memory | undefined;
    readonly capture: CaptureOperation;
    readonly afterCaptures: Capture['afterCaptures'];
    /** What waits on the local disk: it may be the last capture of a vCon that has ended. */
    readonly spool: Pick<Spool, 'isWaiting' | 'drained'>;
    readonly eventsAbout: EventsAbout;
    readonly labelSecret: LabelSecret;
    readonly metrics: OperationMetrics;
    readonly logger: Logger;
    readonly clock: Clock;
    clockIsWrong(): boolean;
    /** Tells how far the clock of the conserver's Redis is ahead of this process's; undefined when it does not say. */
    aheadMs(ms: number | undefined): void;
    observe(): Observation;
    /** Runs work of the queue while the clock is right. */
    whileRight(start: () => Promise<Closable>): Promise<Closable>;
  },
  started: Closable[],
): Promise<void> {
  const { settings, backend, memory, passages, capture, afterCaptures, spool, metrics, logger, observe } = parts;
  const { conserverRedisUrl: url, stream = DEFAULT_STREAM, tapList: list } = settings;
  if (url === undefined) return;
  const consumer = randomUUID();
  const refused = metrics.streamRefused;
  const recordEnd = endingRecorder(parts);
  const ended = async (found: EndingFound): Promise<void> => {
    // While it cannot be drained, the entry stays in the stream.
    await spool.drained();
    await afterCaptures(found.uuid, () => recordEnd(found));
  };
  const isKnown = async (uuid: string): Promise<boolean> =>
    (await memory.read('vcons', uuid))['payload'] !== undefined || (await spool.isWaiting());
  const times = { clock: parts.clock, clockIsWrong: parts.clockIsWrong, aheadMs: parts.aheadMs };
  started.push(await startStreamConsumer({ url, stream, consumer, capture, ended, refused, logger, ...times }));
  if (list !== undefined && passages !== undefined) {
    started.push(startEgressTap({ url, list, memory: passages, logger, observe }));
    const { eventsAbout } = parts;
    const gaps = { backend, memory: passages, list, eventsAbout, logger, observe, counted: metrics.gaps };
    started.push(await parts.whileRight(() => startGapReport(gaps)));
  }
  if (!settings.endings) return;
  started.push(
    startKeyspaceEndings({
      url,
      stream,
      logger,
      isKnown: (uuid) => afterCaptures(uuid, () => isKnown(uuid)),
      unknown: metrics.unknownEnding,
      unlooked: metrics.unlookedEnding,
    }),
  );
}
