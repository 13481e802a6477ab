import { peaks } from '../mmr/peaks.js';
import { firstNode } from './massif-layout.js';

/** Node indices, left to right, of the peaks of the log before a massif: what its peak stack holds. */
export function peakStackIndices(height: number, massif: number): bigint[] {
  return peaks(firstNode(height, massif));
}
