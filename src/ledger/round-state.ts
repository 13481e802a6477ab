import type { LRUCache } from 'lru-cache';
import type { Frontier } from './frontier.js';
import type { IntakeCursors } from './intake-cursors.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import type { LogInconsistent } from './log-inconsistent.js';
import type { SealMemory } from './seal-memory.js';
import type { WaitingBatch } from './waiting-batch.js';

/** What a process keeps between the rounds of its logs. Losing it only costs time. */
export interface RoundState {
  readonly context: LedgerContext;
  /** Names this process in the leases it takes. */
  readonly holder: string;
  readonly memory: SealMemory;
  readonly cursors: IntakeCursors;
  /** Each log as this process left it, sealed and published; the log's row tells whether it is still so. */
  readonly left: LRUCache<string, LogState>;
  /** The frontiers at which this process left its statement logs: a batch can be prepared on one before it is read again. */
  readonly frontiers: LRUCache<string, Frontier>;
  /** Called after each committed batch. */
  readonly committed: (leaves: number) => void;
}

/** The facts of one batch. */
export interface Facts {
  readonly frontier: Frontier;
  readonly batch: WaitingBatch;
}

/** A round that begins. */
export interface BegunRound {
  readonly log: LogState;
  /** Undefined if the last seal must first be completed; an error if the stored facts contradict themselves. */
  readonly facts: Facts | LogInconsistent | undefined;
  /** The object of the log's last seal, if it is being read already. */
  readonly sealObject?: Promise<Uint8Array | undefined>;
  /** The log under this round's lease; undefined until the round has it. */
  held: LogState | undefined;
}
