import { baggedRoot } from '../core/mmr/bagged-root.js';
import { rfc9162Root } from '../core/rfc9162/rfc9162-root.js';
import type { LogStructure } from './log.js';

/**
 * One hash for a state of a log: the RFC 9162 root, or an MMR's bagged peaks, as clients know them from `confirm.root`.
 */
export function treeRoot(structure: LogStructure, peaks: readonly Uint8Array[]): Uint8Array {
  return structure === 'MMR_SHA256' ? baggedRoot(peaks) : rfc9162Root(peaks);
}
