/** Hash of an interior node. `position` is the node's index plus one; both children are 32 bytes, and so is the result. */
export type ParentHash = (position: bigint, left: Uint8Array, right: Uint8Array) => Uint8Array;
