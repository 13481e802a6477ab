import { p256 } from '@noble/curves/nist.js';
import { fromHex, toBase64Url } from '../../../src/core/bytes.js';
import { Algorithm } from '../../../src/core/cose/algorithms.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import type { Signer } from '../../../src/core/cose/signature.js';

/** A P-256 signer after RFC 6979: the same signature each time, so that known answers can be met to the byte. */
export function repeatableSigner(scalarHex: string, xHex: string, yHex: string): Signer {
  const [x, y] = [xHex, yHex].map((hex) => toBase64Url(fromHex(hex))) as [string, string];
  const publicKey = { kty: 'EC', crv: 'P-256', x, y } as const;
  return {
    alg: Algorithm.es256,
    kid: keyThumbprint(publicKey),
    publicKey,
    sign: async (message) => p256.sign(message, fromHex(scalarHex), { lowS: false, prehash: true, format: 'compact' }),
  };
}
