import type { LogRef } from './log.js';

/** Why a log is nudged. */
export interface Nudge {
  /** A caller waits for the seal. */
  readonly urgent: boolean;
  /** How many entries began to wait, as far as the sender knows. */
  readonly entries: number;
}

/** Nudges of a log that go together. */
export type Nudged = Nudge & { readonly log: LogRef };

/** Nudges that are not passed on yet. */
interface GatheredNudges {
  add(log: LogRef, nudge: Nudge): void;
  take(log: LogRef): Nudged | undefined;
  /** Takes those of all logs, the urgent ones first. */
  takeAll(): readonly Nudged[];
}

/** Gathers nudges: those of one log become one. */
export function gatherNudges(): GatheredNudges {
  const nudged = new Map<string, Nudged>();
  return {
    add: (log, nudge) => void nudged.set(log.logId, together(log, nudged.get(log.logId), nudge)),
    take({ logId }) {
      const taken = nudged.get(logId);
      nudged.delete(logId);
      return taken;
    },
    takeAll() {
      const all = [...nudged.values()].sort((one, other) => Number(other.urgent) - Number(one.urgent));
      nudged.clear();
      return all;
    },
  };
}

function together(log: LogRef, earlier: Nudged | undefined, { urgent, entries }: Nudge): Nudged {
  return { log, urgent: urgent || earlier?.urgent === true, entries: entries + (earlier?.entries ?? 0) };
}
