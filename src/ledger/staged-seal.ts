import type { StagedObject } from '../platform/object-store.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { headMassif, massifObjectKey, sealFileObjectKey } from './massif-view.js';
import { checkNoLaterSeal, sealObjectBytes, sealObjectKey } from './seal-object.js';
import type { SealRow } from './seal-store.js';

/** A massif file that is staged. */
export interface StagedMassif {
  readonly bytes: Uint8Array;
  readonly object: Promise<StagedObject>;
}

/** The objects of a seal, written while the database stores it. Nobody sees them before they are published. */
export interface StagedSeal {
  /** Resolves when the object under the seal's number is staged. */
  readonly numbered: Promise<StagedObject>;
  /** Resolves when the file that clients read is staged, from the first; undefined for a log without massifs. */
  readonly file: Promise<StagedObject> | undefined;
  /** The massif that the seal's batch begins; undefined if it begins none. */
  readonly massif: StagedMassif | undefined;
  /** Resolves when the object store was seen to have no later seal. @throws {LogInconsistent} if it has one */
  readonly isLast: Promise<void>;
  /** Removes what was not published. Never fails: what remains is never read. */
  discard(): Promise<void>;
}

/**
 * Begins to stage the objects of a seal of `log`; publishing it reports a failure.
 * @param massifBytes the file of the massif that the seal's batch begins
 */
export function stageSeal(
  { objectStore }: LedgerContext,
  log: LogState,
  seal: SealRow,
  massifBytes?: Uint8Array,
): StagedSeal {
  const numbered = objectStore.stage(sealObjectKey(log, seal.sealNumber), sealObjectBytes(log.structure, seal));
  const isLast = checkNoLaterSeal(objectStore, { ...log, sealNumber: seal.sealNumber });
  const hasFiles = log.structure === 'MMR_SHA256';
  const head = headMassif(log, seal.leaves);
  const file = hasFiles
    ? numbered.then((object) => objectStore.stageCopy(sealFileObjectKey(log, head), object))
    : undefined;
  const massif = massifBytes && {
    bytes: massifBytes,
    object: numbered.then(() => objectStore.stage(massifObjectKey(log, head), massifBytes)),
  };
  const staged = [numbered, file, massif?.object].filter((each) => each !== undefined);
  // A round that fails before it publishes does not read them.
  for (const each of [...staged, isLast]) each.catch(() => undefined);
  return {
    numbered,
    file,
    massif,
    isLast,
    async discard() {
      await Promise.allSettled(staged.map(async (each) => objectStore.discard(await each)));
    },
  };
}
