import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { equalBytes, utf8 } from '../../core/bytes.js';
import { type ChainKey, recoverAddress } from '../../platform/keys/chain-key.js';
import { dataOf, numberOf } from '../quantity.js';
import { type Block, headerFields } from './block.js';
import { rlpList } from './rlp-list.js';

/** What the block says that continues a chain whose newest blocks were lost with the database (docs/formats/fork.md). */
interface ChainFork {
  /** The number of the last block in the object store; the fork block has the next number. */
  readonly lastNumber: bigint;
  /** The hash of that block. */
  readonly lastHash: Uint8Array;
  readonly reason: string;
}

const KIND = utf8('FORK');

function signedHash(parentHash: Uint8Array, { lastNumber, lastHash, reason }: ChainFork): Uint8Array {
  return keccak_256(RLP.encode([KIND, parentHash, lastNumber, lastHash, utf8(reason)]));
}

/** Returns the extra data of a fork block: RLP of the kind, last block, its hash, the reason, and the signature (r, s, recovery). */
export async function signChainFork(
  fork: ChainFork,
  parentHash: Uint8Array,
  key: Pick<ChainKey, 'sign'>,
): Promise<Uint8Array> {
  const { r, s, recovery } = await key.sign(signedHash(parentHash, fork));
  return RLP.encode([KIND, fork.lastNumber, fork.lastHash, utf8(fork.reason), r, s, BigInt(recovery)]);
}

/** A fork as a block says it, with the address of the key that signed it. */
interface ReadChainFork extends ChainFork {
  readonly signer: string;
}

/**
 * Reads the fork that a block states; undefined for an ordinary block and for the first one.
 * @throws {TypeError} if its extra data is not a signed fork
 */
export function readChainFork({ number, header }: Pick<Block, 'number' | 'header'>): ReadChainFork | undefined {
  const { extraData, parentHash } = headerFields(header);
  if (number === 0n || extraData === '0x') return undefined;
  const [kind, lastNumber, lastHash, reason, r, s, recovery] = rlpList(dataOf(extraData));
  if (!lastNumber || !lastHash || !reason || !r || !s || !recovery || !equalBytes(kind!, KIND))
    throw new TypeError('its extra data is not a fork');
  const fork = { lastNumber: numberOf(lastNumber), lastHash, reason: new TextDecoder().decode(reason) };
  const signature = { r: numberOf(r), s: numberOf(s), recovery: Number(numberOf(recovery)) };
  const signer = recoverAddress(signedHash(dataOf(parentHash), fork), signature);
  if (signer === undefined) throw new TypeError('its fork is not signed');
  return { ...fork, signer };
}
