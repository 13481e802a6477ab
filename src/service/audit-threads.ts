import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { PublicJwk } from '../core/cose/public-key.js';
import type { DerivedRange, DeriveRange } from '../ledger/audit/derive-range.js';

/** What a thread is started with. */
export interface AuditThreadData {
  readonly databaseUrl: string;
  readonly issuerKeys: readonly PublicJwk[];
}

/** A range to derive. */
export interface ToAuditThread {
  readonly id: number;
  readonly range: Parameters<DeriveRange>;
}

/** A range that was derived, or why it could not be. */
export type FromAuditThread = { readonly id: number } & (
  | { readonly derived: DerivedRange }
  | { readonly failed: string; readonly code: string | undefined }
);

/** Threads that derive leaves and verify statements, each with connections of its own. */
export interface AuditThreads {
  readonly derive: DeriveRange;
  /** How many ranges keep all threads busy. */
  readonly rangesAtOnce: number;
  close(): Promise<void>;
}

const ENTRY_POINT = new URL('./audit-worker.js', import.meta.url);

/** False where the program runs from its sources: a thread needs the build. */
export const canStartAuditThreads = (): boolean => existsSync(ENTRY_POINT);

/** While a thread waits for rows of one range, it works on another. */
const RANGES_EACH = 2;

interface Waiting {
  resolve(range: DerivedRange): void;
  reject(error: Error): void;
}

/** Starts threads for an audit of a PostgreSQL database. A thread that ends early fails the ranges it was given. */
export function startAuditThreads(count: number, data: AuditThreadData): AuditThreads {
  const threads = Array.from({ length: count }, () => startThread(data));
  let next = 0;
  return {
    derive: (...range) => threads[next++ % count]!.derive(...range),
    rangesAtOnce: count * RANGES_EACH,
    close: async () => void (await Promise.all(threads.map((thread) => thread.close()))),
  };
}

function startThread(data: AuditThreadData) {
  const worker = new Worker(ENTRY_POINT, { workerData: data });
  const waiting = new Map<number, Waiting>();
  let ended: Error | undefined;
  let lastId = 0;
  const end = (error: Error): void => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  worker.on('error', end);
  worker.on('exit', () => end(new Error('a thread of the audit has ended')));
  worker.on('message', (message: FromAuditThread) => {
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if ('derived' in message) asked?.resolve(message.derived);
    else asked?.reject(Object.assign(new Error(message.failed), { code: message.code }));
  });
  return {
    derive: (...range: Parameters<DeriveRange>) =>
      new Promise<DerivedRange>((resolve, reject) => {
        if (ended) return reject(ended);
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.postMessage({ id: lastId, range } satisfies ToAuditThread);
      }),
    async close() {
      if (ended) return;
      const exit = once(worker, 'exit');
      worker.postMessage('stop');
      await exit;
    },
  };
}
