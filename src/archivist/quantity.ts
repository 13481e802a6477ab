import { fromHex, toHex } from '../core/bytes.js';

/** A number as Ethereum's interfaces write it: `0x` and no leading zero; zero is `0x0`. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** Bytes as `0x` and two characters each. */
export function hexData(bytes: Uint8Array): string {
  return `0x${toHex(bytes)}`;
}

/** The number in big-endian bytes; an empty array is zero. */
export function numberOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(hexData(bytes));
}

/** The bytes of hex text that begins with `0x`. @throws {TypeError} when it is not hex */
export function dataOf(hex: string): Uint8Array {
  return fromHex(hex.replace(/^0x/, ''));
}
