import { utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { type BundledOperation, type BundleFiles, bundleIndex, encodeBundleIndex, INDEX_PATH } from './bundle-index.js';
import { TEXT_PATH } from './bundle-layout.js';
import { bundleText } from './bundle-text.js';

/**
 * Returns the files of a bundle with the two that describe them: its text, and its index of all others.
 * @param hasPage whether the bundle gets a page
 * @throws {TypeError} when a file is in no place of the layout, or is of no operation
 */
export function completeBundle(
  evidence: BundleFiles,
  operations: readonly BundledOperation[],
  hasPage: boolean,
  hash: Sha256 = sha256,
): BundleFiles {
  const files = { ...evidence, [TEXT_PATH]: utf8(bundleText(evidence, operations, hasPage)) };
  return { ...files, [INDEX_PATH]: encodeBundleIndex(bundleIndex(files, operations, hash)) };
}
