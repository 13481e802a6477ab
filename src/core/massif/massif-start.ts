import { uint64FromBytes, uint64ToBytes } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { MOST_HEIGHT } from './massif-layout.js';

/** The content of the first 32 bytes of a massif. */
export interface MassifStart {
  /** Id of the newest leaf, without its epoch. */
  readonly lastIdtimestamp: bigint;
  readonly epoch: number;
  /** One-based. */
  readonly height: number;
  /** Place among the log's massifs, from 0. */
  readonly index: number;
}

/**
 * Returns the start record of 32 bytes: 8 zero, last id, 5 zero, version 0 in 2, epoch in 4, height in 1, index in 4.
 * All numbers are most significant byte first.
 */
export function encodeMassifStart(start: MassifStart): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(uint64ToBytes(start.lastIdtimestamp), 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(23, start.epoch);
  view.setUint8(27, start.height);
  view.setUint32(28, start.index);
  return bytes;
}

/**
 * Reads the start record at the beginning of `bytes`.
 * @throws {VerificationError} `massif_corrupt` if it is cut short, of another version, or not zero where it must be
 */
export function decodeMassifStart(bytes: Uint8Array): MassifStart {
  if (bytes.length < 32) throw new VerificationError('massif_corrupt', 'a massif is shorter than its start record');
  if (bytes.subarray(0, 8).some(Boolean) || bytes.subarray(16, 23).some(Boolean))
    throw new VerificationError('massif_corrupt', 'a massif has a start record of an unknown version');
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32);
  const height = view.getUint8(27);
  if (height < 1 || height > MOST_HEIGHT)
    throw new VerificationError('massif_corrupt', `a massif has the impossible height ${height}`);
  return { lastIdtimestamp: uint64FromBytes(bytes, 8), epoch: view.getUint32(23), height, index: view.getUint32(28) };
}
