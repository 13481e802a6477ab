import type { BundleFiles } from '../bundle/bundle-index.js';
import { type CutPage, cutEvidencePage } from '../bundle/evidence-page.js';
import { withoutOuterFolder } from '../bundle/outer-folder.js';
import { isBundle } from '../bundle/verify-bundle.js';
import { VerificationError } from '../errors.js';
import { type EvidenceKind, kindOf, type MediaTypeOf, takenForDocument } from './evidence-kind.js';
import { openBundle } from './open-bundle.js';
import { filesInPage } from './page-evidence.js';
import { hasReplica, type Replica, replicaIn } from './replica-logs.js';
import { UsageError } from './usage-error.js';

/**
 * The content of a folder or a zip. It is read only when it is checked, because a replica may be larger than memory.
 */
export interface EvidenceFolder {
  /** Whether it may be only a part of a bundle: what a page contains. */
  readonly isPart?: boolean;
  /** One file; undefined when it is absent or cannot be read. */
  file(path: string): Promise<Uint8Array | undefined>;
  /** All files, of a bundle. @throws {UsageError} when the folder cannot be read, or is larger than any bundle is */
  files(): Promise<BundleFiles>;
  /** The logs of a replica, and what is beside them. @throws {UsageError} as `replicaIn` */
  replica(): Promise<Replica>;
}

/** A file or folder that a person gave, and what it was read as. */
export interface EvidenceFile {
  /** As the person named it. */
  readonly path: string;
  readonly kind: EvidenceKind;
  /** Of a document that other evidence names by its hash: what its form alone says that it is. */
  readonly form?: EvidenceKind;
  /** Of a document: `vcon`, `json`, its media type, or `unknown`. Otherwise the kind. */
  readonly takenFor: string;
  /** Empty for a folder. */
  readonly bytes: Uint8Array;
  /** Of a bundle or a folder. */
  readonly folder?: EvidenceFolder;
}

/** Detects from its content what a file is; its name does not matter. A zip is a bundle, or the replica of logs. */
export async function evidenceFile(path: string, bytes: Uint8Array, mediaTypeOf?: MediaTypeOf): Promise<EvidenceFile> {
  const kind = kindOf(bytes);
  if (kind === 'document') return { path, kind, takenFor: await takenForDocument(bytes, mediaTypeOf), bytes };
  if (kind !== 'bundle') return { path, kind, takenFor: kind, bytes };
  const page = cutEvidencePage(bytes);
  if (page) return { ...evidenceInPage(path, page), bytes };
  const folder = folderOf(path, () => withoutOuterFolder(openBundle(bytes)));
  // A zip that cannot be opened is refused by the check of the bundle, with the reason.
  const isReplica = await folder.files().then(hasReplicaOnly, () => false);
  return isReplica
    ? { path, kind: 'folder', takenFor: 'replica', bytes, folder }
    : { path, kind, takenFor: kind, bytes, folder };
}

/** Returns a folder whose files are in memory: an unpacked bundle, or the replica of logs. */
export function evidenceFolder(path: string, files: BundleFiles): EvidenceFile {
  const folder = folderOf(path, () => files);
  const kind = isBundle(files) ? 'bundle' : 'folder';
  return { path, kind, takenFor: kind, bytes: new Uint8Array(), folder };
}

const hasReplicaOnly = (files: BundleFiles): boolean => !isBundle(files) && hasReplica(Object.keys(files));

/** Returns the evidence in the page of a bundle. It may be only a part of the bundle. */
export function evidenceInPage(path: string, page: Pick<CutPage, 'evidence'>): EvidenceFile {
  const folder = folderOf(path, () => readPage(page), true);
  return { path, kind: 'bundle', takenFor: 'evidence_page', bytes: new Uint8Array(), folder };
}

/** @throws {UsageError} */
function readPage(page: Pick<CutPage, 'evidence'>): BundleFiles {
  try {
    return filesInPage(page);
  } catch (error) {
    throw error instanceof VerificationError ? new UsageError(error.message) : error;
  }
}

function folderOf(path: string, open: () => BundleFiles, isPart = false): EvidenceFolder {
  let opened: BundleFiles | undefined;
  const files = async () => (opened ??= open());
  return {
    isPart,
    files,
    file: (name) =>
      files().then(
        (all) => (Object.hasOwn(all, name) ? all[name] : undefined),
        () => undefined,
      ),
    async replica() {
      const all = await files();
      return replicaIn(path, Object.keys(all), async (name) => all[name]!);
    },
  };
}
