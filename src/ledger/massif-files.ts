import { LRUCache } from 'lru-cache';
import { leafCount } from '../core/mmr/leaf-count.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { LogInconsistent } from './log-inconsistent.js';
import { findLog, SEQUENCER_READING } from './log-store.js';
import { headMassif, massifBytes, massifLeaves, massifObjectKey, sealFileObjectKey } from './massif-view.js';
import { sealObjectBytes } from './seal-object.js';
import { newestSealWithin, type SealRow } from './seal-store.js';
import type { StagedMassif, StagedSeal } from './staged-seal.js';

/**
 * A growing massif has a megabyte or more; the database serves its newest state, and the object store follows later.
 */
const HEAD_MASSIF_MS = 60_000;
/** Of a log that was forgotten, the growing massif is written with the next seal. */
const MOST_LOGS = 10_000;

type Staged = Pick<StagedSeal, 'massif' | 'file'>;

/** Writes massif and seal files of MMR logs to the object store. */
export interface MassifFiles {
  /**
   * Writes the seal's file each time; its massif when the massif is full or new, and otherwise once a minute.
   * @param staged the files that were staged
   */
  put(context: LedgerContext, log: LogState, seal: SealRow, staged?: Staged): Promise<void>;
  /**
   * Writes the files of every seal that another sequencer has published after this one: it went on while this one was
   * stopped, and its files must not stay replaced by the older ones of this one.
   */
  putNewer(context: LedgerContext, log: LogState, seal: SealRow): Promise<void>;
}

async function putMassif(
  context: LedgerContext,
  log: LogState,
  massif: number,
  leaves: bigint,
  staged: StagedMassif | undefined,
): Promise<void> {
  if (staged) return context.objectStore.put(massifObjectKey(log, massif), staged.bytes, await staged.object);
  const view = await context.database.inTransaction(SEQUENCER_READING, (tx) => massifBytes(tx, log, massif, leaves));
  if (!view) throw new LogInconsistent(`massif ${massif} has no leaves`);
  await context.objectStore.put(massifObjectKey(log, massif), view.bytes);
}

/** A published seal of the same massif that is newer than this one. */
function newerSeal(context: LedgerContext, log: LogState, seal: SealRow): Promise<SealRow | undefined> {
  return context.database.inTransaction('system', async (tx) => {
    const published = leafCount((await findLog(tx, log))?.publishedSize ?? 0n);
    if (published <= seal.leaves) return undefined;
    const first = BigInt(headMassif(log, seal.leaves)) * massifLeaves(log);
    const end = first + massifLeaves(log);
    const newest = await newestSealWithin(tx, log, first, end < published ? end : published);
    return newest && newest.leaves > seal.leaves ? newest : undefined;
  });
}

/** Remembers, in this process, when each log's growing massif was last written. */
export function createMassifFiles(): MassifFiles {
  const putAt = new LRUCache<string, number>({ max: MOST_LOGS });

  async function putFiles(
    context: LedgerContext,
    log: LogState,
    seal: SealRow,
    { always, staged }: { readonly always?: true; readonly staged?: Staged | undefined },
  ): Promise<void> {
    const massif = headMassif(log, seal.leaves);
    const full = seal.leaves % massifLeaves(log) === 0n;
    const now = context.clock.now();
    const last = putAt.get(log.logId);
    // Data before seal: readers treat a seal file that is ahead of its massif as an error.
    if (always || full || staged?.massif || last === undefined || Math.abs(now - last) >= HEAD_MASSIF_MS) {
      await putMassif(context, log, massif, seal.leaves, staged?.massif);
      if (full) putAt.delete(log.logId);
      else putAt.set(log.logId, now);
    }
    const bytes = sealObjectBytes(log.structure, seal);
    await context.objectStore.put(sealFileObjectKey(log, massif), bytes, await staged?.file);
  }

  return {
    put: (context, log, seal, staged) => putFiles(context, log, seal, { staged }),
    async putNewer(context, log, seal) {
      for (let newer = await newerSeal(context, log, seal); newer; newer = await newerSeal(context, log, newer))
        await putFiles(context, log, newer, { always: true });
    },
  };
}
