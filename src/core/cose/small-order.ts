import { fromBase64, toHex } from '../bytes.js';
import type { PublicJwk } from './public-key.js';

const POINT_BYTES = 32;
/**
 * The y coordinates of Ed25519's points of small order, least significant byte first and without the sign bit: 0, 1, −1 and
 * those of order 8; and 0 and 1 again with the prime added, which some libraries read as well.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  `00${'00'.repeat(31)}`,
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

function isSmallOrder(point: Uint8Array): boolean {
  // `slice` of a Buffer is no copy, and the signature must stay as it is.
  const y = Uint8Array.from(point.subarray(0, POINT_BYTES));
  y[POINT_BYTES - 1]! &= 0x7f;
  return SMALL_ORDER.has(toHex(y));
}

/**
 * Whether the key, or the point that an Ed25519 signature begins with, has a small order. A key like that has signatures that
 * fit any message. Some libraries accept them and some do not, so every verifier refuses them before a library sees them.
 */
export function hasSmallOrder(key: PublicJwk, signature: Uint8Array): boolean {
  return key.kty === 'OKP' && (isSmallOrder(fromBase64(key.x)) || isSmallOrder(signature));
}
