import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../../src/platform/logger.js';

const PAUSE_MS = 1_000;
const NAMED = 20;
/** Most pieces that wait: what waits is in the memory of this process. */
const MOST_WAITING = 100_000;

/** Work that is tried until it succeeds, one piece for each name. At most 100,000 pieces wait; others are dropped. */
export interface PatientWork {
  /**
   * Resolves after the first attempt; if that fails, further ones follow. Work that still waits under this name is not done
   * any more; work that comes while an attempt under its name is under way waits for its turn. Never rejects.
   */
  keepTrying(name: string, work: () => Promise<void>): Promise<void>;
  /** How many pieces wait for their next attempt. */
  waiting(): number;
  /** Tries once more, and says in the log what could not be done. */
  close(): Promise<void>;
}

/**
 * Keeps work that fails, and tries it again every second, one piece after the other: a store that is full or away fails all
 * of them, and must not be asked by each.
 * @param what says in the log that it is not done, such as "a capture is not noted"
 * @param dropped counts each piece that is dropped
 */
export function createPatientWork(what: string, logger: Logger, dropped?: () => void): PatientWork {
  const waiting = new Map<string, () => Promise<void>>();
  /** First attempts that are under way, by their names. None rejects. */
  const begun = new Map<string, Promise<void>>();
  const stop = new AbortController();
  const { signal } = stop;
  let trying: Promise<void> | undefined;
  let isFull = false;

  async function tryAll(): Promise<void> {
    for (let last = false; waiting.size > 0 && !last; ) {
      // The process may end meanwhile.
      await wait(PAUSE_MS, undefined, { ref: false, signal }).catch(() => undefined);
      last = signal.aborted;
      await tryInTurn(waiting, begun);
    }
    trying = undefined;
    isFull = false;
    const left = { count: waiting.size, names: [...waiting.keys()].slice(0, NAMED) };
    if (waiting.size > 0) logger.error(left, `${what}, and the plugin stops`);
  }

  function keep(name: string, work: () => Promise<void>): void {
    if (waiting.size >= MOST_WAITING && !waiting.has(name)) {
      drop();
      return;
    }
    waiting.set(name, work);
    trying ??= tryAll();
  }

  function drop(): void {
    if (!isFull) logger.error({ count: waiting.size }, `${what}, and so many wait that further ones are dropped`);
    isFull = true;
    dropped?.();
  }

  return {
    async keepTrying(name, work) {
      if (waiting.has(name) || begun.has(name)) return keep(name, work);
      const attempt = work().catch((error: unknown) => {
        if (waiting.size === 0) logger.warn({ err: error, name }, `${what} yet: it is retried`);
        // What waits under this name now is newer.
        if (!waiting.has(name)) keep(name, work);
      });
      begun.set(name, attempt);
      await attempt;
      begun.delete(name);
    },
    waiting: () => waiting.size,
    async close() {
      stop.abort();
      await trying;
    },
  };
}

/** Until one fails, which is then the last in turn. */
async function tryInTurn(
  waiting: Map<string, () => Promise<void>>,
  begun: ReadonlyMap<string, Promise<void>>,
): Promise<void> {
  for (const [name, work] of [...waiting]) {
    // An older attempt that ends later would be done in its place.
    await begun.get(name);
    const failed = await work().then(
      () => false,
      () => true,
    );
    // What has come under this name since then is newer.
    if (waiting.get(name) !== work) continue;
    waiting.delete(name);
    if (!failed) continue;
    waiting.set(name, work);
    return;
  }
}
