import { RLP } from '@ethereumjs/rlp';

/** The byte strings of an RLP list; none if the bytes are anything else. */
export function rlpList(bytes: Uint8Array): Uint8Array[] {
  try {
    const list = RLP.decode(bytes);
    return Array.isArray(list) && list.every((each) => each instanceof Uint8Array) ? (list as Uint8Array[]) : [];
  } catch {
    return [];
  }
}
