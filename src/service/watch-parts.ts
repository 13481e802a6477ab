import { type ChainWatch, watchChain } from '../archivist/chain/watch-chain.js';
import { type Backlog, createBacklog } from '../ledger/backlog.js';
import { type HaltedLogs, watchHaltedLogs } from '../ledger/halted/watch-halted-logs.js';
import type { Closers } from '../platform/close-all.js';
import type { Config } from './config/config.js';
import type { Base } from './open-base.js';
import { watchOutside } from './watch-outside.js';

/** Watches what `/readyz` reports of services outside, logs, the chain and the entries that wait. */
export async function watchParts(
  base: Base,
  { maxWaitingEntries: limit }: Pick<Config, 'maxWaitingEntries'>,
  closers: Closers,
): Promise<{ readonly halted: HaltedLogs; readonly chain: ChainWatch; readonly backlog: Backlog }> {
  const outside = watchOutside(base);
  closers.push(() => outside.close());
  const halted = await watchHaltedLogs(base);
  closers.push(() => halted.close());
  const chain = await watchChain({ ...base, looked: base.metrics.chainLooked });
  closers.push(() => chain.close());
  const backlog = createBacklog({ ...base, limit, waiting: base.metrics.entriesWaiting });
  backlog.start();
  closers.push(() => backlog.stop());
  return { halted, chain, backlog };
}
