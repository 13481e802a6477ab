import type { Memory } from '../memory/memory.js';

/** vCons of which capture and egress do not agree, by uuid, sorted. */
export interface CaptureGaps {
  /** Left a chain, and nothing of them was captured. */
  readonly leftWithoutEvent: readonly string[];
  /** Captured, and never left: halted, dead-lettered, or lost within the chain. */
  readonly eventWithoutLeaving: readonly string[];
}

/** A chain may take its time, and a record its way. */
const SETTLED_AFTER_MS = 3_600_000;
/** The conserver's clock and ours. */
const SKEW_MS = 5_000;

/** Compares what left with what was captured, and forgets the vCons of which both agree. */
export async function findCaptureGaps(memory: Memory, nowMs: number): Promise<CaptureGaps> {
  const leftWithoutEvent: string[] = [];
  const eventWithoutLeaving: string[] = [];
  for await (const uuid of memory.names('tap')) {
    const { left, captured } = await memory.read('tap', uuid);
    if (Math.max(Number(left ?? 0), Number(captured ?? 0)) > nowMs - SETTLED_AFTER_MS) continue;
    if (captured === undefined) leftWithoutEvent.push(uuid);
    else if (left === undefined || Number(captured) > Number(left) + SKEW_MS) eventWithoutLeaving.push(uuid);
    else await memory.forget('tap', uuid);
  }
  return { leftWithoutEvent: leftWithoutEvent.sort(), eventWithoutLeaving: eventWithoutLeaving.sort() };
}
