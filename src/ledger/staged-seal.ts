import type { StagedObject } from '../platform/object-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { checkNoLaterSeal, sealObjectBytes, sealObjectKey } from './seal-object.js';
import type { SealRow } from './seal-store.js';

/** The object of a seal, written while the database stores it. Nobody sees it before it is published. */
export interface StagedSeal {
  /** Resolves when the object under the seal's number is staged. */
  readonly numbered: Promise<StagedObject>;
  /** Resolves when the object store was seen to have no later seal. @throws {LogInconsistent} if it has one */
  readonly isLast: Promise<void>;
  /** Removes what was not published. Never fails: what remains is never read. */
  discard(): Promise<void>;
}

/** Begins to stage the object of a seal of `log`; publishing it reports a failure. */
export function stageSeal({ objectStore }: LedgerContext, log: LogState, seal: SealRow): StagedSeal {
  const numbered = objectStore.stage(sealObjectKey(log, seal.sealNumber), sealObjectBytes(log.structure, seal));
  const isLast = checkNoLaterSeal(objectStore, { ...log, sealNumber: seal.sealNumber });
  // A round that fails before it publishes does not read them.
  for (const each of [numbered, isLast]) each.catch(() => undefined);
  return {
    numbered,
    isLast,
    async discard() {
      await numbered.then((object) => objectStore.discard(object)).catch(() => undefined);
    },
  };
}
