import { checked, createVerdict, type Findings, notCovered, type Verdict } from '../verify/verdict.js';
import {
  type BundledOperation,
  type BundleFiles,
  type BundleIndex,
  INDEX_PATH,
  readBundleIndex,
} from './bundle-index.js';
import { placeOf } from './bundle-layout.js';
import { bundleMismatch, checkListing, checkUnlisted, listedAs } from './check-listing.js';
import { explanations } from './explanations.js';
import { filesOfOperation } from './operation-files.js';
import { verifyBundledLogs } from './verify-bundled-logs.js';
import { type OperationTrust, verifyOperation } from './verify-operation.js';

/** What a bundle is checked with. */
interface BundleTrust extends OperationTrust {
  /** Whether bytes claim to be evidence. A file that does, and that the index does not list, is unproven. */
  readonly isEvidence: (bytes: Uint8Array) => boolean;
  /** Whether the files may be only a part of the bundle: a listed file that is absent is then unproven, not lost. */
  readonly isPart: boolean;
}

const NO_INDEX = `there is no ${INDEX_PATH}: the number of operations that the bundle was made with is unknown`;

interface ReadIndex {
  readonly index?: BundleIndex | undefined;
  readonly findings: Partial<Findings>;
}

async function readIndex(files: BundleFiles): Promise<ReadIndex> {
  if (!Object.hasOwn(files, INDEX_PATH)) return { findings: notCovered(INDEX_PATH, 'unproven', NO_INDEX) };
  const { proven, failed } = await checked(INDEX_PATH, () => readBundleIndex(files[INDEX_PATH]!));
  return { index: proven, findings: failed ?? {} };
}

/** Folders that hold an operation's files. */
function foldersIn(files: BundleFiles): string[] {
  const folders = Object.keys(files).flatMap((path) => placeOf(path)?.folder ?? []);
  return [...new Set(folders)].sort();
}

/** Returns whether files are those of a bundle: an index, or the files of an operation. */
export function isBundle(files: BundleFiles): boolean {
  return Object.hasOwn(files, INDEX_PATH) || foldersIn(files).length > 0;
}

function identityFinding({ number, identity }: BundledOperation, found: string | undefined): Partial<Findings> {
  if (found === undefined || found === identity) return {};
  return bundleMismatch(INDEX_PATH, `operation ${number} is ${identity} in the index, but ${found} in its event.json`);
}

/**
 * Checks a bundle, whether it came as a zip or as a folder: its index, every operation's files by their own proofs and
 * against each other, and every log file (docs/formats/bundle.md). It is not proven that the log has no further
 * operations, and the verdict says so.
 */
export async function verifyBundle(files: BundleFiles, trust: BundleTrust): Promise<Verdict> {
  const { index, findings } = await readIndex(files);
  const is = listedAs(files, index, trust.sha256);
  const logs = await verifyBundledLogs(files, { ...trust, log: trust.tenancyLog });
  const operations = index?.operations ?? foldersIn(files).map((folder) => ({ folder }));
  const examined: Partial<Findings>[] = [];
  for (const operation of operations) {
    const result = await verifyOperation(filesOfOperation(files, operation.folder), logs, trust);
    examined.push(result.findings);
    if ('identity' in operation) examined.push(identityFinding(operation, result.identity));
  }
  return createVerdict(
    findings,
    index ? checkListing(index, is, trust.isPart) : [],
    checkUnlisted(files, index !== undefined, is, trust.isEvidence),
    examined,
    logs.findings,
    explanations(files, index, is, trust),
  );
}
