import { z } from 'zod';
import type { ChainKey } from '../../platform/keys/chain-key.js';
import { timestampOf } from '../../platform/timestamps.js';
import { hexData } from '../quantity.js';
import { type Block, headerFields } from './block.js';

/**
 * A validator's public key. The interface has a field for the private scalar, which is always empty
 * (docs/design/interface.md#chain).
 */
const publicKeySchema = z.strictObject({
  kty: z.string(),
  crv: z.string(),
  x: z.string(),
  y: z.string(),
  d: z.literal(''),
});

/** The report on a node (docs/design/interface.md#chain). */
export const nodeSchema = z.strictObject({
  identity: z.string(),
  blockchain_nodes: z.array(
    z.strictObject({
      validator_pubkey: publicKeySchema,
      block_height: z.string(),
      connection_status: z.string(),
      genesis_hash: z.string(),
      state_root: z.string(),
      timestamp_committed: z.string(),
      timestamp_created: z.string(),
      /** In the original, an object while the node is behind its peers. This node has no peers. */
      syncing: z.record(z.string(), z.unknown()).nullable(),
      peers: z.array(z.strictObject({ validator_pubkey: publicKeySchema, connection_status: z.string() })),
    }),
  ),
});

/**
 * The real state of this deployment's chain: one block producer, no peers, nothing to sync.
 * `timestamp_created` is the time of the first block, `timestamp_committed` that of the newest.
 */
export function nodeResponse(
  chain: string,
  { publicJwk }: Pick<ChainKey, 'publicJwk'>,
  blocks: { readonly first: Block; readonly head: Block },
): z.infer<typeof nodeSchema> {
  const head = headerFields(blocks.head.header);
  return {
    identity: `archivistnode/${chain}`,
    blockchain_nodes: [
      {
        validator_pubkey: { ...publicJwk, d: '' },
        block_height: blocks.head.number.toString(),
        connection_status: 'REACHABLE',
        genesis_hash: hexData(blocks.first.hash),
        state_root: head.stateRoot,
        timestamp_committed: timeOf(head.timestamp),
        timestamp_created: timeOf(headerFields(blocks.first.header).timestamp),
        syncing: null,
        peers: [],
      },
    ],
  };
}

function timeOf(seconds: string): string {
  return timestampOf(Number(seconds) * 1000);
}
