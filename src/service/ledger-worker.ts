// The entry point of the ledger's thread (`ledger-thread.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import type { Ledger, LedgerMetrics } from '../ledger/round.js';
import type { BaseSettings, LedgerSettings } from './base-settings.js';
import type { LedgerReport } from './ledger-report.js';
import type { LedgerCall, ToLedger, Told } from './ledger-thread.js';
import { startLedger } from './service-ledger.js';

/** Nobody waits for a metric: it goes with the next message, at the latest after this time. */
const METRICS_AFTER_MS = 20;

/** Makes the calls of the other thread. */
function callsOfThread(): (call: LedgerCall, ledger: Pick<Ledger, 'nudge' | 'prepare'>) => void {
  const coming = new Map<number, (committed: boolean) => void>();
  return (call, { nudge, prepare }) => {
    if ('nudge' in call) nudge(...call.nudge);
    else if ('came' in call) {
      coming.get(call.came)?.(call.committed);
      coming.delete(call.came);
    } else {
      const committed = new Promise<boolean>((resolve) => coming.set(call.coming, resolve));
      prepare(call.log, { statements: call.statements, committed });
    }
  };
}

function main(): void {
  const port = parentPort!;
  let told: Told[] = [];
  let timer: NodeJS.Timeout | undefined;

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    port.postMessage(told);
    told = [];
  }

  function tell(each: Told): void {
    told.push(each);
    send();
  }

  function tellSoon(each: Told): void {
    told.push(each);
    timer ??= setTimeout(send, METRICS_AFTER_MS);
  }

  const metrics: LedgerMetrics = {
    roundEnded: (...values) => tellSoon({ metric: 'roundEnded', values }),
    batchCommitted: (...values) => tellSoon({ metric: 'batchCommitted', values }),
    lagged: (...values) => tellSoon({ metric: 'lagged', values }),
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
    if (timer) send();
    port.close();
  }

  const make = callsOfThread();

  port.on('message', (message: ToLedger) => {
    if (message === 'start') void start();
    else if (message === 'stop') void stop();
    else
      void ledger?.then((calls) => {
        for (const call of message.calls) make(call, calls);
      });
  });
}

main();
