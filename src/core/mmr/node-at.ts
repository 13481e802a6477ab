/** The stored 32 bytes of the node at a 0-based post-order index. */
export type NodeAt = (index: bigint) => Uint8Array;
