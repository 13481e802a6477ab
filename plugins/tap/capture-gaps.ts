import { CLOCK_WRONG } from '../capture/note-passage.js';
import type { Fields, Memory } from '../memory/memory.js';
import type { EventAttributes } from '../operation/operation-event.js';

/** vCons whose capture and egress disagree, by uuid, sorted. */
export interface CaptureGaps {
  /** Left a chain without any known event. */
  readonly leftWithoutEvent: readonly string[];
  /** Left a chain; only the conserver's stock link recorded them. */
  readonly leftWithStockEvent: readonly string[];
  /** Left a chain; only another link recorded them. */
  readonly leftWithOtherEvent: readonly string[];
  /** Captured but never left: halted, dead-lettered, or lost within the chain. */
  readonly eventWithoutLeaving: readonly string[];
}

/** The attributes of the events about a vCon that the plugin's own tenancies have, as far as it may see them. */
export type EventsAbout = (uuid: string) => Promise<readonly EventAttributes[]>;

/** Time for a chain to finish and a record to arrive. */
const SETTLED_AFTER_MS = 3_600_000;
/** Tolerated difference between the conserver's clock and ours. */
const SKEW_MS = 5_000;
/** How the conserver's stock `links.datatrails` names itself in its events. */
const STOCK_LINK = 'datatrails';

const TIMES = ['left', 'captured', 'continued'] as const;

type Kind = keyof CaptureGaps;

async function uncapturedKind(uuid: string, eventsAbout: EventsAbout): Promise<Kind | undefined> {
  const events = await eventsAbout(uuid);
  if (events.length === 0) return 'leftWithoutEvent';
  // Captured by a plugin with another memory, or before this one forgot it.
  if (events.some((attributes) => attributes['capture_method'] !== undefined)) return undefined;
  const stock = events.some((attributes) => attributes['conserver_link'] === STOCK_LINK);
  return stock ? 'leftWithStockEvent' : 'leftWithOtherEvent';
}

function isSettled(fields: Fields, nowMs: number): boolean {
  return TIMES.every((name) => Number(fields[name] ?? 0) <= nowMs - SETTLED_AFTER_MS);
}

/**
 * Forgets a vCon that is in a gap record, unless it left or was captured after the comparison.
 * @param comparedMs the time of that comparison
 */
export async function forgetCompared(memory: Memory, uuid: string, comparedMs: number): Promise<void> {
  const fields = await memory.read('tap', uuid);
  if (fields[CLOCK_WRONG] === undefined && isSettled(fields, comparedMs)) await memory.forget('tap', uuid, fields);
}

/** Takes all times of a vCon as now: what it did first is not known, and whether it still does something is to be seen. */
function timedAnew(fields: Fields, nowMs: number): Record<string, string | null> {
  const known = TIMES.filter((name) => fields[name] !== undefined);
  return { ...Object.fromEntries(known.map((name) => [name, String(nowMs)])), [CLOCK_WRONG]: null };
}

/**
 * Compares what left with what was captured, and forgets the vCons for which both agree. A captured vCon that continued
 * under another uuid counts as left when that one leaves. A vCon that a wrong clock gave a time is compared by the next
 * report.
 * @param nowMs of a clock that is right
 * @throws what `eventsAbout` throws
 */
export async function findCaptureGaps(memory: Memory, nowMs: number, eventsAbout: EventsAbout): Promise<CaptureGaps> {
  const found: Record<Kind, string[]> = {
    leftWithoutEvent: [],
    leftWithStockEvent: [],
    leftWithOtherEvent: [],
    eventWithoutLeaving: [],
  };
  for await (const uuid of memory.names('tap')) {
    const fields = await memory.read('tap', uuid);
    if (fields[CLOCK_WRONG] !== undefined) {
      await memory.write('tap', uuid, timedAnew(fields, nowMs));
      continue;
    }
    if (!isSettled(fields, nowMs)) continue;
    const [left, captured, continued] = TIMES.map((name) => Number(fields[name] ?? 0));
    let kind: Kind | undefined;
    if (captured! > Math.max(left!, continued!) + SKEW_MS) kind = 'eventWithoutLeaving';
    else if (captured === 0 && left! > 0) kind = await uncapturedKind(uuid, eventsAbout);
    if (kind) found[kind].push(uuid);
    // What it did meanwhile is compared by the next report.
    else await memory.forget('tap', uuid, fields);
  }
  for (const uuids of Object.values(found)) uuids.sort();
  return found;
}
