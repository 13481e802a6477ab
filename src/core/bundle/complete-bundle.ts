import { utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { type BundledOperation, type BundleFiles, bundleIndex, encodeBundleIndex, INDEX_PATH } from './bundle-index.js';
import { TEXT_PATH } from './bundle-layout.js';
import { bundleText } from './bundle-text.js';

/**
 * Returns the files of a bundle with the two that describe them: its text, and its index of all others.
 * @throws {TypeError} when a file is in no place of the layout, or is of no operation
 */
export function completeBundle(
  evidence: BundleFiles,
  operations: readonly BundledOperation[],
  hash: Sha256 = sha256,
): BundleFiles {
  const files = { ...evidence, [TEXT_PATH]: utf8(bundleText(evidence, operations)) };
  return { ...files, [INDEX_PATH]: encodeBundleIndex(bundleIndex(files, operations, hash)) };
}
