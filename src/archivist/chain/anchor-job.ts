import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { type ScheduledJob, startScheduledJob } from '../../platform/queue/scheduled-job.js';
import { type AnchorDeps, anchorWindows } from './anchor-windows.js';
import { type ChainDeps, extendChain } from './extend-chain.js';

const MARGIN_SECONDS = 5;

/**
 * Creates anchors by a schedule, a cron pattern in UTC, and writes them and the seals since into the chain.
 * @throws for an invalid pattern
 */
export function startAnchorJob(
  deps: Omit<AnchorDeps, 'marginSeconds'> & ChainDeps & { readonly backend: QueueBackend; readonly pattern: string },
): Promise<ScheduledJob> {
  const { pattern } = deps;
  return startScheduledJob(deps, {
    name: 'anchor',
    pattern,
    run: async (stopping) => ({
      anchors: await anchorWindows({ ...deps, marginSeconds: MARGIN_SECONDS }, stopping),
      transactions: await extendChain(deps, stopping),
    }),
  });
}
