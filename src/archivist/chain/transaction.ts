import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { z } from 'zod';
import { type ChainKey, recoverAddress } from '../../platform/keys/chain-key.js';
import { CHAIN_ID } from '../assets/asset.js';
import { dataOf, hexData, numberOf, quantity } from '../quantity.js';

const NOTHING = new Uint8Array();

/** The content of an unsigned transaction. It moves no value and costs no gas. */
interface TransactionContent {
  readonly nonce: bigint;
  /** Address of the tenancy that the transaction concerns. */
  readonly to: string;
  readonly input: Uint8Array;
}

export interface SignedTransaction {
  readonly hash: Uint8Array;
  /** RLP of its nine fields. */
  readonly signed: Uint8Array;
}

/** A legacy transaction, signed only for this chain (EIP-155): its chain id is the one in every asset. */
export async function signTransaction(
  content: TransactionContent,
  key: Pick<ChainKey, 'sign'>,
): Promise<SignedTransaction> {
  const chainId = BigInt(CHAIN_ID);
  const fields = [content.nonce, NOTHING, NOTHING, dataOf(content.to), NOTHING, content.input];
  const { r, s, recovery } = await key.sign(keccak_256(RLP.encode([...fields, chainId, NOTHING, NOTHING])));
  const signed = RLP.encode([...fields, 2n * chainId + 35n + BigInt(recovery), r, s]);
  return { hash: keccak_256(signed), signed };
}

/** Returns the EIP-55 address of the key that signed a transaction for this chain; undefined if none did. */
export function transactionSigner(signed: Uint8Array): string | undefined {
  const [nonce, gasPrice, gas, to, value, input, v, r, s, ...more] = RLP.decode(signed) as Uint8Array[];
  if (!s || more.length > 0) return undefined;
  const chainId = BigInt(CHAIN_ID);
  const recovery = Number(numberOf(v!) - 2n * chainId - 35n);
  const hash = keccak_256(RLP.encode([nonce!, gasPrice!, gas!, to!, value!, input!, chainId, NOTHING, NOTHING]));
  return recoverAddress(hash, { r: numberOf(r!), s: numberOf(s), recovery });
}

/** A transaction with its position in a block. */
export interface PlacedTransaction extends SignedTransaction {
  readonly sender: string;
  readonly blockNumber: bigint;
  readonly blockHash: Uint8Array;
  readonly transactionIndex: number;
}

/** A transaction in a response, with numbers as decimal text (docs/design/interface.md#chain). */
export const transactionSchema = z.strictObject({
  hash: z.string(),
  nonce: z.string(),
  blockhash: z.string(),
  block_number: z.string(),
  transaction_index: z.int(),
  r: z.string(),
  s: z.string(),
  v: z.string(),
  from: z.string(),
  to: z.string(),
  value: z.string(),
  gas: z.string(),
  gas_price: z.string(),
  input: z.string(),
});

/** @param to the tenancy's address in checksum form */
export function transactionResponse(placed: PlacedTransaction, to: string): z.infer<typeof transactionSchema> {
  const [nonce, gasPrice, gas, , value, input, v, r, s] = RLP.decode(placed.signed) as Uint8Array[];
  return {
    hash: hexData(placed.hash),
    nonce: numberOf(nonce!).toString(),
    blockhash: hexData(placed.blockHash),
    block_number: placed.blockNumber.toString(),
    transaction_index: placed.transactionIndex,
    r: quantity(numberOf(r!)),
    s: quantity(numberOf(s!)),
    v: quantity(numberOf(v!)),
    from: placed.sender,
    to,
    value: numberOf(value!).toString(),
    gas: numberOf(gas!).toString(),
    gas_price: numberOf(gasPrice!).toString(),
    input: hexData(input!),
  };
}
