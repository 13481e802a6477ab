import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { z } from 'zod';
import { dataOf, hexData, numberOf, quantity } from '../quantity.js';
import { listRoot, trieRoot } from './trie-root.js';

/** Keccak-256 of the RLP of an empty list: this chain has no uncles. */
const NO_UNCLES = keccak_256(RLP.encode([]));
/** This chain has no accounts: every state is the empty trie. */
const EMPTY_STATE = trieRoot([]);
const NO_LOGS = new Uint8Array(256);
const NO_HASH = new Uint8Array(32);
const NO_NONCE = new Uint8Array(8);
const NOTHING = new Uint8Array();
/** Status 1, no gas, no logs. */
const RECEIPT = RLP.encode([1, 0, NO_LOGS, []]);

/** The fields that differ between blocks. */
interface BlockContent {
  readonly number: bigint;
  readonly parentHash: Uint8Array;
  /** Address of the key that signed the block, 20 bytes. */
  readonly miner: Uint8Array;
  /** RLP of its signed transactions, in order. */
  readonly transactions: readonly Uint8Array[];
  /** In seconds since 1970. */
  readonly timestamp: bigint;
  readonly extraData: Uint8Array;
}

/** A stored block. Its hash is the Keccak-256 of its header's bytes. */
export interface Block {
  readonly number: bigint;
  readonly hash: Uint8Array;
  readonly header: Uint8Array;
}

/** The parent of a chain's first block. */
export const NO_PARENT = NO_HASH;

/**
 * Makes a block: the legacy header of fifteen fields in RLP (Ethereum Yellow Paper, section 4.4). Difficulty, gas,
 * nonce and mixHash are zero, because there is no mining.
 */
export function blockOf(content: BlockContent): Block {
  const header = RLP.encode([
    content.parentHash,
    NO_UNCLES,
    content.miner,
    EMPTY_STATE,
    listRoot(content.transactions),
    listRoot(content.transactions.map(() => RECEIPT)),
    NO_LOGS,
    NOTHING, // difficulty
    content.number,
    NOTHING, // gas limit
    NOTHING, // gas used
    content.timestamp,
    content.extraData,
    NO_HASH, // mixHash
    NO_NONCE,
  ]);
  return { number: content.number, hash: keccak_256(header), header };
}

/** The text form of each field of the header. */
const FIELDS = [
  ['parentHash', hexData],
  ['sha3Uncles', hexData],
  ['miner', hexData],
  ['stateRoot', hexData],
  ['transactionRoot', hexData],
  ['receiptsRoot', hexData],
  ['logsBloom', hexData],
  ['difficulty', number],
  ['number', number],
  ['gasLimit', number],
  ['gasUsed', number],
  ['timestamp', number],
  ['extraData', hexData],
  ['mixHash', hexData],
  ['nonce', hexData],
] as const;
type Field = (typeof FIELDS)[number][0];

function number(bytes: Uint8Array): string {
  return quantity(numberOf(bytes));
}

/** The fields of a stored header, as hex text. */
export function headerFields(header: Uint8Array): Record<Field, string> {
  const values = RLP.decode(header) as Uint8Array[];
  return Object.fromEntries(FIELDS.map(([name, text], place) => [name, text(values[place]!)])) as Record<Field, string>;
}

/** Computes the hash of a block from its fields as hex text; a missing mixHash counts as zero. */
export function blockHash(
  fields: Readonly<Record<Exclude<Field, 'mixHash'>, string> & { mixHash?: string }>,
): Uint8Array {
  const values = FIELDS.map(([name, text]) => {
    const value = name === 'mixHash' ? (fields.mixHash ?? hexData(NO_HASH)) : fields[name];
    return text === number ? BigInt(value) : dataOf(value);
  });
  return keccak_256(RLP.encode(values));
}

const hex = z.string().meta({ description: 'Hex text that begins with 0x' });

/** A block in a response (docs/design/interface.md#chain). */
export const blockSchema = z.strictObject({
  difficulty: hex,
  extraData: hex,
  gasLimit: hex,
  gasUsed: hex,
  hash: hex,
  logsBloom: hex,
  miner: hex,
  nonce: hex,
  number: hex,
  parentHash: hex,
  privateStateRoot: hex,
  receiptsRoot: hex,
  sha3Uncles: hex,
  stateRoot: hex,
  timestamp: hex,
  transactionRoot: hex,
});

/** The interface has no mixHash, which is zero here; it has a private state, which this chain does not. */
export function blockResponse(block: Block): z.infer<typeof blockSchema> {
  const { mixHash: _, ...shown } = headerFields(block.header);
  return { ...shown, hash: hexData(block.hash), privateStateRoot: hexData(EMPTY_STATE) };
}
