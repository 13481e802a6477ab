// The entry point of the ledger's thread (`ledger-thread.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import type { LedgerMetrics } from '../ledger/round.js';
import type { Config } from './config/config.js';
import type { LedgerReport } from './ledger-report.js';
import type { FromLedger, ToLedger } from './ledger-thread.js';
import { startLedger } from './open-base.js';

async function main(): Promise<void> {
  const port = parentPort!;
  const tell = (message: FromLedger): void => port.postMessage(message);
  const metrics: LedgerMetrics = {
    roundEnded: (...values) => tell({ metric: 'roundEnded', values }),
    batchCommitted: (...values) => tell({ metric: 'batchCommitted', values }),
    lagged: (...values) => tell({ metric: 'lagged', values }),
  };
  const published = (...values: Parameters<LedgerReport['published']>): void => tell({ published: values });
  const report = { metrics, published };
  const { nudge, close } = await startLedger(workerData as Config, report, (full) => tell({ full }));
  port.on('message', (message: ToLedger) => {
    if (message !== 'stop') nudge(...message.nudge);
    else void close().then(() => port.close());
  });
  tell('started');
}

await main();
