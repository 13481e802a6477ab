import type { Observation } from './capture-sequence.js';

/** How a vCon ends in a conserver: gone from its Redis and every storage, or deleted but still in a storage. */
export const ENDINGS = ['vcon_expired', 'vcon_deleted', 'vcon_deletion_incomplete'] as const;
export type Ending = (typeof ENDINGS)[number];

/** A storage's answer for a vCon that is gone from Redis; only the first two are final. */
export const STORAGE_ANSWERS = ['gone', 'held', 'failed', 'no_answer', 'cannot_be_asked', 'not_asked'] as const;
export type StorageAnswer = (typeof STORAGE_ANSWERS)[number];

/** What the wheel found when it checked every configured storage. */
export interface EndingFound {
  readonly ending: Ending;
  /** In lower case. */
  readonly uuid: string;
  /** By the storage's name in the conserver's configuration. */
  readonly storages: ReadonlyMap<string, StorageAnswer>;
  readonly observed: Observation;
}
