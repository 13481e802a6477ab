import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { enqueueOperation } from '../capture/enqueue-operation.js';
import type { Memory } from '../memory/memory.js';
import type { Observation } from '../operation/capture-sequence.js';
import { type EventsAbout, findCaptureGaps, forgetCompared } from './capture-gaps.js';
import { GAP_OPERATION, type GapRecord, gapDocuments, gapEvent, vconsOf } from './gap-event.js';

interface ReportedGaps {
  readonly day: string;
  /** vCons in the records. */
  readonly vcons: number;
}

/** What a gap report depends on. */
export interface GapReportParts {
  readonly backend: QueueBackend;
  readonly memory: Memory;
  /** Name of the egress list that is compared with the captures. */
  readonly list: string;
  /** Distinguishes vCons without a record from those that another link recorded. */
  readonly eventsAbout: EventsAbout;
}

interface DayRecords {
  readonly documents: readonly string[];
  /** When they were found. */
  readonly comparedMs: number;
}

/** The records of the day: those that an earlier run has stored, or new ones. */
async function recordsOf(parts: GapReportParts, day: string, nowMs: number): Promise<DayRecords> {
  const { memory, list, eventsAbout } = parts;
  const { documents, compared_ms: comparedMs = nowMs } = await memory.read('gaps', day);
  if (documents) return { documents: JSON.parse(documents) as string[], comparedMs: Number(comparedMs) };
  const found = gapDocuments(day, list, await findCaptureGaps(memory, nowMs, eventsAbout));
  // Before anything is sent: after a crash from here on, the same records are sent again under the same ids.
  await memory.write('gaps', day, { documents: JSON.stringify(found), compared_ms: String(nowMs) });
  return { documents: found, comparedMs: nowMs };
}

/**
 * Once a day, sends the gaps that were found so far to the log: signed records of what left without an event of ours,
 * and of what was captured but never left. A day without gaps makes no record.
 * @throws when the memory, the queue or the service does not answer, or the clock is wrong
 */
export async function reportGaps(parts: GapReportParts, observed: Observation): Promise<ReportedGaps> {
  const { backend, memory, list } = parts;
  if (observed.clockWrong) throw new Error('the clock is wrong: it does not tell the day');
  const day = new Date(observed.atMs).toISOString().slice(0, 10);
  if ((await memory.read('gaps', day))['recorded']) return { day, vcons: 0 };
  const { documents, comparedMs } = await recordsOf(parts, day, observed.atMs);
  let vcons = 0;
  for (const [part, document] of documents.entries()) {
    const operation = { name: GAP_OPERATION, nonce: `${day}.${part}` };
    await enqueueOperation(backend, operation, gapEvent(list, day, document, observed));
    const missing = vconsOf(JSON.parse(document) as GapRecord);
    for (const uuid of missing) await forgetCompared(memory, uuid, comparedMs);
    vcons += missing.length;
  }
  await memory.write('gaps', day, { recorded: new Date(observed.atMs).toISOString() });
  return { day, vcons };
}
