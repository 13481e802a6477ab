// The entry point of the ledger's thread (`ledger-thread.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import type { LedgerMetrics } from '../ledger/round.js';
import type { BaseSettings, LedgerSettings } from './base-settings.js';
import type { LedgerReport } from './ledger-report.js';
import type { FromLedger, ToLedger } from './ledger-thread.js';
import { startLedger } from './open-base.js';

function main(): void {
  const port = parentPort!;
  const tell = (message: FromLedger): void => port.postMessage(message);
  const metrics: LedgerMetrics = {
    roundEnded: (...values) => tell({ metric: 'roundEnded', values }),
    batchCommitted: (...values) => tell({ metric: 'batchCommitted', values }),
    lagged: (...values) => tell({ metric: 'lagged', values }),
  };
  const published = (...values: Parameters<LedgerReport['published']>): void => tell({ published: values });
  let ledger: ReturnType<typeof startLedger> | undefined;

  async function start(): Promise<void> {
    ledger = startLedger(workerData as BaseSettings & LedgerSettings, { metrics, published }, (full) => tell({ full }));
    await ledger;
    tell('started');
  }

  async function stop(): Promise<void> {
    await (await ledger)?.close();
    port.close();
  }

  port.on('message', (message: ToLedger) => {
    if (message === 'start') void start();
    else if (message === 'stop') void stop();
    else void ledger?.then(({ nudge }) => nudge(...message.nudge));
  });
}

main();
