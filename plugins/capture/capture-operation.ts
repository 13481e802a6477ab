import { randomUUID } from 'node:crypto';
import type { Logger } from '../../src/platform/logger.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { within } from '../../src/platform/time-limit.js';
import type { Memory } from '../memory/memory.js';
import { subjectOf } from '../operation/operation-event.js';
import { afterEnd } from './after-end.js';
import { type AnswerWindow, NO_HURRY, requireOpen } from './answer-window.js';
import { createCaptureTurns, type Turn } from './capture-turns.js';
import { capturedOperations } from './captured-operations.js';
import { compareConsents } from './compare-consents.js';
import type { Ended } from './ended.js';
import { followCapture } from './follow-capture.js';
import { createKeepOperations } from './keep-operations.js';
import { readKnownVcon } from './known-vcon.js';
import { createPatientWork } from './patient-work.js';

/** What was stored, as reported to the caller. */
export interface Captured {
  readonly job: string;
  readonly subject: string;
  readonly payload: string;
}

interface CaptureParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** Counts what was captured. */
  counted(operation: string): void;
  /** Another method captured the same operation on the same bytes before. */
  doubled(operation: string): void;
  /** Where a completeness tap needs a record of captures; undefined without one. */
  readonly passages: Memory | undefined;
  /** Ids of jobs that were refused but may still be in the queue: they must not be delivered. */
  readonly withdrawn: Set<string>;
  /** How far the clock of the conserver's Redis is ahead of this process's; undefined if not known. */
  conserverAheadMs?(): number | undefined;
  readonly logger: Logger;
  readonly mostUnremembered?: number;
  readonly rememberWithinMs?: number;
  readonly placeMs?: number;
}

/** Captures until it is closed. */
export interface Capture {
  readonly capture: CaptureOperation;
  /** Does work about a vCon after its captures so far are remembered. Rejects as the work does. */
  afterCaptures<Value>(uuid: string, work: () => Promise<Value>): Promise<Value>;
  /** Remembers what is not remembered yet, or says in the log that it cannot. */
  close(): Promise<void>;
}

/**
 * Stores an operation for delivery. Resolves when it is on disk. If it rejects within a window, the operation never
 * becomes an event; without a window the caller must retry until it resolves.
 * @throws when the queue cannot guarantee that it is stored
 */
export type CaptureOperation = (ended: Ended, window?: AnswerWindow) => Promise<Captured>;

/** Further captures are refused while so many are not remembered: what waits is in the memory of this process. */
const MOST_UNREMEMBERED = 10_000;
/** If the memory takes longer, the caller gets its response before the memory is updated. */
const REMEMBER_WITHIN_MS = 300;

/**
 * The only path from a completed operation to the queue: it compares consents with those last seen, follows
 * predecessors, and remembers what was captured.
 * An operation is held in the queue until it is durable, then released. After a crash before the release, it is
 * delivered some minutes later. After a crash between the release and the memory update, the same operation is captured
 * again under the same ids. A caller without a window repeats its capture until it is remembered too.
 */
export function createCapture(parts: CaptureParts): Capture {
  const by = randomUUID();
  const { mostUnremembered = MOST_UNREMEMBERED, rememberWithinMs = REMEMBER_WITHIN_MS } = parts;
  const stop = new AbortController();
  const notes = createPatientWork('a capture is not noted for the gap report', parts.logger);
  const unremembered = new Set<Promise<void>>();
  const capturing = () => ({ by, aheadMs: parts.conserverAheadMs?.() });
  const remembering = { ...parts, notes, unremembered, stopping: stop.signal, capturing };
  const inTurn = createCaptureTurns(parts.memory);
  const keepOperations = createKeepOperations(parts);

  async function capture(ended: Ended, uuid: string, window: AnswerWindow): Promise<Turn<Captured>> {
    requireOpen(window);
    if (unremembered.size >= mostUnremembered) throw new Error('too many captured operations are not remembered yet');
    const known = await readKnownVcon(remembering, uuid, ended, window);
    const consents = await compareConsents(remembering, ended, known, window);
    const { identity, remembered } = afterEnd(ended, known.fields, known.late);
    const captured = { identity, changes: consents.operations, history: known.history };
    const operations = capturedOperations(parts.backend, ended, captured);
    await keepOperations(operations, window);
    for (const { name } of operations) parts.counted(name);
    const [{ job, event }, ...changes] = operations;
    const fields = { ...consents.fields, ...remembered };
    const isRepeated = window === NO_HURRY;
    const following = followCapture(remembering, ended, known, { changes, fields, isRepeated });
    // The operation is final: a caller whose time runs out must hear so before it is refused.
    if (window.isOpen()) await within(rememberWithinMs, following.noted, 'the memory is slow').catch(() => undefined);
    if (isRepeated) await following.remembered;
    // The next capture needs only what is remembered of the vCon: the tap's memory may be on another Redis, and down.
    return { value: { job, subject: event.subject, payload: event.payload }, following: following.remembered };
  }

  return {
    async capture(ended, window = NO_HURRY) {
      // Documents without a uuid are known by their subject.
      const uuid = ended.vcon.uuid ?? subjectOf(ended.vcon);
      return inTurn(uuid, () => capture(ended, uuid, window));
    },
    afterCaptures: (uuid, work) => inTurn(uuid, async () => ({ value: await work(), following: Promise.resolve() })),
    async close() {
      stop.abort();
      await Promise.allSettled(unremembered);
      await notes.close();
    },
  };
}
