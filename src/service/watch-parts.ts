import { type ChainWatch, watchChain } from '../archivist/chain/watch-chain.js';
import { type HaltedLogs, watchHaltedLogs } from '../ledger/halted/watch-halted-logs.js';
import type { Base, Closers } from './open-base.js';
import { watchOutside } from './watch-outside.js';

/** Watches what `/readyz` reports of services outside, logs and the chain. */
export async function watchParts(
  base: Base,
  closers: Closers,
): Promise<{ readonly halted: HaltedLogs; readonly chain: ChainWatch }> {
  const outside = watchOutside(base);
  closers.push(() => outside.close());
  const halted = await watchHaltedLogs(base);
  closers.push(() => halted.close());
  const chain = await watchChain({ ...base, ...base.open, looked: base.metrics.chainLooked });
  closers.push(() => chain.close());
  return { halted, chain };
}
