import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ComingStatements } from '../ledger/coming-statements.js';
import type { LogRef } from '../ledger/log.js';
import type { Ledger, LedgerMetrics } from '../ledger/round.js';
import type { DiskUse } from '../platform/disk/disk-full.js';
import type { BaseSettings, LedgerSettings } from './base-settings.js';
import type { LedgerReport } from './ledger-report.js';

/** A call of the ledger. Of coming statements, a second call tells by their number whether they were committed. */
export type LedgerCall =
  | { readonly nudge: Parameters<Ledger['nudge']> }
  | { readonly coming: number; readonly log: LogRef; readonly statements: ComingStatements['statements'] }
  | { readonly came: number; readonly committed: boolean };

/** Messages to the thread: calls come between `start` and `stop`. */
export type ToLedger = { readonly calls: readonly LedgerCall[] } | 'start' | 'stop';

/** What the thread tells: that it is running, published seals, which disk had no room for a write, and its metrics. */
export type Told =
  | 'started'
  | { readonly published: Parameters<LedgerReport['published']> }
  | { readonly full: DiskUse }
  | {
      [Name in keyof LedgerMetrics]: { readonly metric: Name; readonly values: Parameters<LedgerMetrics[Name]> };
    }[keyof LedgerMetrics];

/** A thread that loads its modules while the rest of the service starts. */
interface LedgerThread {
  /**
   * The ledger, whose sequencers run in the thread from its start on.
   * @param here the same ledger, not started, for calls that need no thread
   */
  ledger(here: Ledger, report: LedgerReport, diskReported: (use: DiskUse) => void): Ledger;
  /** Ends the thread, after the ledger was stopped or was never started. */
  close(): Promise<void>;
}

/**
 * An accept nudges each log, and then the one that its caller waits for: calls of one turn of the event loop go together.
 */
function callTogether(tell: (calls: LedgerCall[]) => void): Pick<Ledger, 'nudge' | 'prepare'> {
  let calls: LedgerCall[] = [];
  let prepared = 0;
  const tellAll = (): void => {
    if (calls.length > 0) tell(calls);
    calls = [];
  };
  const call = (made: LedgerCall): void => {
    if (calls.push(made) === 1) process.nextTick(tellAll);
  };
  return {
    nudge: (...nudge) => call({ nudge }),
    prepare(log, { statements, committed }) {
      prepared += 1;
      const number = prepared;
      call({ coming: number, log, statements });
      // The thread signs them while accept sends its rows.
      tellAll();
      void committed.then((are) => call({ came: number, committed: are }));
    },
  };
}

/**
 * Opens a thread for the sequencers with its own connections, so that signing and hashing delay no request. An error
 * that ends the thread ends the process, as it would without a thread; unfinished work stays in the database.
 */
export function openLedgerThread(config: BaseSettings & LedgerSettings): LedgerThread {
  const worker = new Worker(new URL('./ledger-worker.js', import.meta.url), { workerData: config });
  const tell = (message: ToLedger): void => worker.postMessage(message);
  // Before it has started, its error fails the start.
  const failed = once(worker, 'error').then(([error]) => {
    throw error;
  });
  failed.catch(() => undefined);
  return {
    ledger(here, { metrics, published }, diskReported) {
      function hear(message: Exclude<Told, 'started'>): void {
        if ('full' in message) diskReported(message.full);
        else if ('published' in message) published(...message.published);
        else (metrics[message.metric] as (...values: unknown[]) => void)(...message.values);
      }
      return {
        ...here,
        ...callTogether((calls) => tell({ calls })),
        async start() {
          const started = new Promise<void>((resolve) => {
            // Its first messages can be metrics of rounds that run before it has started.
            worker.on('message', (told: readonly Told[]) => {
              for (const each of told)
                if (each === 'started') resolve();
                else hear(each);
            });
          });
          tell('start');
          await Promise.race([started, failed]);
          worker.on('error', (error) => {
            throw error;
          });
        },
        async stop() {
          const ended = worker.threadId >= 0 ? once(worker, 'exit') : undefined;
          tell('stop');
          await ended;
          await here.stop();
        },
      };
    },
    close: async () => void (await worker.terminate()),
  };
}
