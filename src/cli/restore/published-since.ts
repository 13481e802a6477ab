import { belongingTo } from '../backup/belonging-objects.js';
import type { CopyManifest } from '../backup/copy-manifest.js';

/** What the object store shows about the time after a copy. */
export interface PublishedSince {
  /** Keys of seals, blocks and key manifests that are newer than the copy. */
  readonly later: readonly string[];
  /** Whether the store already had everything that is numbered in the copy: then it also shows what came later. */
  readonly known: boolean;
}

/** Compares a copy with the object store as it was before the restore. */
export function publishedSince(
  manifest: CopyManifest,
  copied: readonly { readonly key: string }[],
  inStore: ReadonlySet<string>,
): PublishedSince {
  const belonging = belongingTo({ ...manifest, blobs: new Set() });
  const numbered = copied.filter(({ key }) => /^(seals|blocks|key-manifests|forks)\//.test(key));
  return {
    later: [...inStore].filter((key) => belonging(key) === 'later').sort(),
    known: numbered.length > 0 && numbered.every(({ key }) => inStore.has(key)),
  };
}

/** Returns why each log must halt after a restore, by the log's id. */
export function haltReasons(manifest: CopyManifest, since: PublishedSince, unknownSince: boolean): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const { log, sealNumber } of manifest.logs) {
    const newer = [`seals/${log}/`, `seals/${log}.`, `forks/${log}/`];
    const later = since.later.filter((key) => newer.some((prefix) => key.startsWith(prefix))).length;
    if (later > 0)
      reasons.set(log, `the object store has seal ${sealNumber + 1}: the database is older than what was published`);
    else if (unknownSince)
      reasons.set(log, `restored from the copy of ${manifest.madeAt}: what was published after it is unknown`);
  }
  return reasons;
}
