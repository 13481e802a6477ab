import { peaks } from '../mmr/peaks.js';
import { firstNode } from './massif-layout.js';

/** Returns the node indices, left to right, of the log's peaks before a massif. Its peak stack holds these peaks. */
export function peakStackIndices(height: number, massif: number): bigint[] {
  return peaks(firstNode(height, massif));
}
