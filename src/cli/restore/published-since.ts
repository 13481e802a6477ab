import { belongingTo, newestGeneration, sealFolder } from '../backup/belonging-objects.js';
import type { CopyManifest } from '../backup/copy-manifest.js';

/** What the object store shows about the time after a copy. */
export interface PublishedSince {
  /** Keys of seals, blocks and key manifests that are newer than the copy. */
  readonly later: readonly string[];
  /** Whether the store already had everything that is numbered in the copy: then it also shows what came later. */
  readonly known: boolean;
  /** The id of the keys log, by the key manifests of the copy. */
  readonly keysLog: string;
}

/** Compares a copy with the object store as it was before the restore. */
export function publishedSince(
  manifest: CopyManifest,
  copied: readonly { readonly key: string }[],
  inStore: ReadonlySet<string>,
): PublishedSince {
  const belonging = belongingTo({ ...manifest, blobs: new Set() });
  const numbered = copied.filter(({ key }) => /^(seals|blocks|key-manifests|forks)\//.test(key));
  const manifests = numbered.find(({ key }) => key.startsWith('key-manifests/'));
  return {
    keysLog: manifests?.key.split('/')[1] ?? '',
    later: [...inStore].filter((key) => belonging(key) === 'later').sort(),
    known: numbered.length > 0 && numbered.every(({ key }) => inStore.has(key)),
  };
}

const olderThan = (what: string): string =>
  `the object store has ${what}: the database is older than what was published`;

/**
 * Returns why the chain will halt after a restore. Nothing marks it: the service compares its newest block with the object
 * store, and adds none while the keys log is halted.
 */
export function chainHalt(
  { lastBlock }: CopyManifest,
  { later, keysLog }: PublishedSince,
  halted: ReadonlyMap<string, string>,
): string | undefined {
  if (later.some((key) => key.startsWith('blocks/'))) return olderThan(`block ${lastBlock + 1}`);
  return halted.has(keysLog) ? 'the keys log is halted' : undefined;
}

/** Returns why each log must halt after a restore, by the log's id. */
export function haltReasons(manifest: CopyManifest, since: PublishedSince, unknownSince: boolean): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const copied of manifest.logs) {
    const { log, sealNumber } = copied;
    const has = (...folders: string[]) => since.later.some((key) => folders.some((folder) => key.startsWith(folder)));
    if (has(`seals/${sealFolder(copied, sealNumber + 1)}/`)) reasons.set(log, olderThan(`seal ${sealNumber + 1}`));
    else if (has(`forks/${log}/`, `seals/${log}.`))
      reasons.set(log, olderThan(`generation ${newestGeneration(copied) + 1}`));
    else if (unknownSince)
      reasons.set(log, `restored from the copy of ${manifest.madeAt}: what was published after it is unknown`);
  }
  return reasons;
}
