import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { fromHex, toBase64Url } from '../../../src/core/bytes.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { curveRules, type EcPublicJwk, type OkpPublicJwk, publicJwk } from '../../../src/core/cose/public-key.js';
import type { Signer } from '../../../src/core/cose/signature.js';

const HASHES = { 'P-256': 'sha256', 'P-384': 'sha384', 'P-521': 'sha512', Ed25519: null } as const;

type CurveKey = EcPublicJwk | OkpPublicJwk;

/** A signer over a private JWK of a curve in memory: what a key file is to the service. */
export function softwareSigner(privateJwk: Record<string, string>): Signer & { readonly publicKey: CurveKey } {
  const publicKey = publicJwk(privateJwk) as CurveKey;
  const key: KeyObject = createPrivateKey({ key: privateJwk, format: 'jwk' });
  return {
    alg: curveRules(publicKey.crv).alg,
    kid: keyThumbprint(publicKey),
    publicKey,
    sign: async (message) => new Uint8Array(sign(HASHES[publicKey.crv], message, { key, dsaEncoding: 'ieee-p1363' })),
  };
}

/** The private JWK of an elliptic-curve key given in hex, as the known answers give theirs. */
export function ecPrivateJwk(crv: string, scalarHex: string, xHex: string, yHex: string): Record<string, string> {
  const [d, x, y] = [scalarHex, xHex, yHex].map((hex) => toBase64Url(fromHex(hex)));
  return { kty: 'EC', crv, d: d!, x: x!, y: y! };
}
