import { createRepeat } from '../../ledger/repeat.js';
import type { Logger } from '../../platform/logger.js';
import { newestLook } from '../../platform/newest-look.js';
import { explainChain, type ForkChainDeps } from './fork-chain.js';

const LOOK_EVERY_MS = 30_000;

/** Whether the chain of blocks is halted, in memory. */
export interface ChainWatch {
  /** Why no block is added; undefined while the chain runs. */
  halted(): string | undefined;
  /** Reads it now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

interface ChainWatchDeps extends Pick<ForkChainDeps, 'database' | 'deployment' | 'objectStore'> {
  readonly logger: Logger;
  /** Is told after each look. */
  readonly looked: (isHalted: boolean) => void;
}

/**
 * Compares the newest block of the database with the object store, at the start and every half minute: two reads of the
 * object store. While the object store or the database does not answer, the last finding stays.
 */
export async function watchChain(deps: ChainWatchDeps): Promise<ChainWatch> {
  const { logger, looked } = deps;
  let halted: string | undefined;

  const refresh = newestLook(
    () => whyHalted(deps),
    (found) => {
      if (found !== undefined && halted === undefined)
        logger.fatal({ reason: found }, 'the chain is halted and gets no blocks: run "vcon-archivist logs"');
      halted = found;
      looked(halted !== undefined);
    },
  );

  const tryRefresh = (): Promise<void> =>
    refresh().catch((error: unknown) =>
      logger.warn({ err: error }, 'the state of the chain could not be read; this is retried'),
    );
  await tryRefresh();
  const repeat = createRepeat(() => LOOK_EVERY_MS, tryRefresh);
  repeat.start();
  return { halted: () => halted, refresh, close: () => repeat.stop() };
}

async function whyHalted(deps: ChainWatchDeps): Promise<string | undefined> {
  const first = await explainChain(deps);
  if (first.finding === 'consistent') return undefined;
  // A process that was adding a block at this moment looks the same: then the database has another newest block now.
  const { finding, head, last } = await explainChain(deps);
  if (finding === 'consistent' || head.number !== first.head.number) return undefined;
  switch (finding) {
    case 'keys_log_halted':
      return 'the keys log is halted';
    case 'objects_differ':
      return `the object store has another block ${head.number} than the database`;
    case 'database_older':
      return `the database ends with block ${head.number}, the object store with block ${last.number}`;
  }
}
