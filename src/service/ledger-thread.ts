import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Ledger, LedgerMetrics } from '../ledger/round.js';
import type { DiskUse } from '../platform/disk/disk-full.js';
import type { Config } from './config/config.js';
import type { LedgerReport } from './ledger-report.js';

/** Messages to the thread. */
export type ToLedger = { readonly nudge: Parameters<Ledger['nudge']> } | 'stop';

/** Messages from the thread: that it is running, published seals, which disk had no room for a write, and its metrics. */
export type FromLedger =
  | 'started'
  | { readonly published: Parameters<LedgerReport['published']> }
  | { readonly full: DiskUse }
  | {
      [Name in keyof LedgerMetrics]: { readonly metric: Name; readonly values: Parameters<LedgerMetrics[Name]> };
    }[keyof LedgerMetrics];

/**
 * Runs the sequencers in a thread with its own connections, so that signing and hashing delay no request. An error that
 * ends the thread ends the process, as it would without a thread; unfinished work stays in the database.
 * @param here the same ledger, not started, for calls that need no thread
 */
export function ledgerThread(
  config: Config,
  here: Ledger,
  { metrics, published }: LedgerReport,
  diskReported: (use: DiskUse) => void,
): Ledger {
  let thread: Worker | undefined;
  const tell = (message: ToLedger): void => thread?.postMessage(message);

  function hear(message: Exclude<FromLedger, 'started'>): void {
    if ('full' in message) diskReported(message.full);
    else if ('published' in message) published(...message.published);
    else (metrics[message.metric] as (...values: unknown[]) => void)(...message.values);
  }

  return {
    ...here,
    nudge: (...nudge) => tell({ nudge }),
    async start() {
      const worker = new Worker(new URL('./ledger-worker.js', import.meta.url), { workerData: config });
      thread = worker;
      await new Promise<void>((resolve, reject) => {
        worker.once('error', reject);
        // Its first messages can be metrics of rounds that run before it has started.
        worker.on('message', (message: FromLedger) => (message === 'started' ? resolve() : hear(message)));
      });
      worker.on('error', (error) => {
        throw error;
      });
    },
    async stop() {
      const ended = thread && thread.threadId >= 0 ? once(thread, 'exit') : undefined;
      tell('stop');
      await ended;
      await here.stop();
    },
  };
}
