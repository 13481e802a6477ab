import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, fromBase64, toHex, utf8 } from '../../core/bytes.js';

/**
 * The address of an uncompressed secp256k1 public key (x ‖ y, 64 bytes): the last 20 bytes of its Keccak-256, with the
 * checksum of EIP-55 in the case of its letters.
 */
export function walletAddress(publicKey: Uint8Array): string {
  if (publicKey.length !== 64) throw new TypeError('a public key has 64 bytes: x and y');
  return withChecksum(toHex(keccak_256(publicKey).subarray(12)));
}

/**
 * Returns an address in the form in which addresses are stored and shown, with the checksum of EIP-55, whatever the case
 * of its letters: in a filter it carries no meaning. Any other text is returned as it is.
 */
export function shownAddress(text: string): string {
  return /^0x[0-9a-f]{40}$/i.test(text) ? withChecksum(text.slice(2).toLowerCase()) : text;
}

/** @param address 40 lower-case hex digits */
function withChecksum(address: string): string {
  const checksum = toHex(keccak_256(utf8(address)));
  const cased = [...address].map((digit, place) =>
    Number.parseInt(checksum[place]!, 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

/** The address of a secp256k1 key; undefined for any other key. */
export function jwkAddress(jwk: object): string | undefined {
  const { crv, x = '', y = '' } = jwk as Readonly<Record<string, string | undefined>>;
  try {
    return crv === 'secp256k1' ? walletAddress(concatBytes(fromBase64(x), fromBase64(y))) : undefined;
  } catch {
    return undefined;
  }
}
