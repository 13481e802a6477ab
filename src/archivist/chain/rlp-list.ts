import { RLP } from '@ethereumjs/rlp';

/** Returns the byte strings of an RLP list; an empty array for any other bytes. */
export function rlpList(bytes: Uint8Array): Uint8Array[] {
  try {
    const list = RLP.decode(bytes);
    return Array.isArray(list) && list.every((each) => each instanceof Uint8Array) ? (list as Uint8Array[]) : [];
  } catch {
    return [];
  }
}
