import type { Clock } from '../../platform/clock.js';
import { type Feature, HOUSEKEEPING_ROLES } from '../../platform/feature.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { startAnchorJob } from './anchor-job.js';
import type { AnchorDeps } from './anchor-windows.js';
import { blockchainRoutes, nodeRoutes } from './chain-routes.js';
import type { ChainDeps } from './extend-chain.js';
import type { ReadChainDeps } from './read-chain.js';

interface ChainBase extends ReadChainDeps, Omit<AnchorDeps, 'marginSeconds'>, Omit<ChainDeps, 'clock' | 'keyring'> {
  readonly keyring: ReadChainDeps['keyring'] & ChainDeps['keyring'];
  /** Dates what is recorded. */
  readonly rightClock: Clock;
  readonly backend: QueueBackend;
}

/**
 * The chain of blocks, with the job that anchors events and adds blocks.
 * @param anchorSchedule a cron pattern in UTC
 */
export function openChain(base: ChainBase, anchorSchedule: string): Feature {
  return {
    routes: { 'v1/archivistnode': nodeRoutes(base), 'v1alpha2/blockchain/assets': blockchainRoutes(base) },
    jobs: [
      {
        roles: HOUSEKEEPING_ROLES,
        start: () => startAnchorJob({ ...base, clock: base.rightClock, pattern: anchorSchedule }),
      },
    ],
  };
}
