import { type Haste, sooner } from './haste.js';
import type { LogRef } from './log.js';

/** The next round of a log. */
export interface RequestedRound {
  readonly key: string;
  readonly log: LogRef;
  haste: Haste;
  /** How many began to wait since the last round began. */
  entries: number;
  readonly sinceMs: number;
  /** Who waits for the end of one round. */
  readonly ended: (() => void)[];
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The rounds that have not begun: one for each log, however often it was requested. */
interface RequestedRounds {
  /** Requests a round of a log, or joins the one that was requested before. */
  add(log: LogRef, haste: Haste, entries: number): RequestedRound;
  /** Requests one more round for those who asked for a round that has left work; none, if it is closed. */
  again(asked: RequestedRound): void;
  has(key: string): boolean;
  /** In the order of the requests. */
  all(): readonly RequestedRound[];
  /** Takes out a round that begins. */
  remove(key: string): void;
  /** Resolves all rounds: none of them will begin. */
  close(): void;
}

/** @param nowMs a clock that never steps */
export function createRequestedRounds(nowMs: () => number): RequestedRounds {
  const rounds = new Map<string, RequestedRound>();
  let closed = false;
  return {
    add(log, haste, entries) {
      const key = roundKey(log);
      const asked = rounds.get(key) ?? requestedRound(key, log, haste, nowMs());
      asked.haste = sooner(asked.haste, haste);
      asked.entries += entries;
      rounds.set(key, asked);
      return asked;
    },
    again(asked) {
      if (closed) return asked.resolve();
      const other = rounds.get(asked.key);
      // More waits than one round takes: a pause would make no batch larger.
      if (!other) {
        rounds.set(asked.key, { ...asked, haste: sooner(asked.haste, 'soon'), sinceMs: nowMs() });
        return;
      }
      other.haste = sooner(other.haste, 'soon');
      other.done.then(asked.resolve, asked.reject);
    },
    has: (key) => rounds.has(key),
    all: () => [...rounds.values()],
    remove: (key) => void rounds.delete(key),
    close() {
      closed = true;
      for (const { resolve } of rounds.values()) resolve();
      rounds.clear();
    },
  };
}

/** The key of a log's rounds. */
export function roundKey(log: LogRef): string {
  return `${log.tenantId}/${log.logId}`;
}

function requestedRound(key: string, log: LogRef, haste: Haste, sinceMs: number): RequestedRound {
  let [resolve, reject]: [() => void, (reason: unknown) => void] = [() => {}, () => {}];
  const done = new Promise<void>((fulfil, refuse) => {
    [resolve, reject] = [fulfil, refuse];
  });
  return { key, log, haste, entries: 0, sinceMs, ended: [], done, resolve, reject };
}
