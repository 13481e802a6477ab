import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../src/core/bytes.js';
import { type CborValue, encodeCbor } from '../../../src/core/cose/cbor.js';
import { coseKeyFromJwk, jwkFromCoseKey, keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { verifyStatement } from '../../../src/core/verify/verify-statement.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import { ALGORITHMS, sampleIssuer, sampleStatement } from '../../scitt/sample-statement.js';

/** The order of P-521's group (SEC 2), which no r or s reaches. */
const ORDER = `01${'ff'.repeat(32)}fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409`;

const issuer = sampleIssuer(ALGORITHMS.ES512);
const key = publicJwk({ ...issuer.publicKey.export({ format: 'jwk' }), kid: 'testkey' });
const statement = sampleStatement(issuer);

describe('a statement signed with ES512', () => {
  it.each([
    ['OpenSSL', nodeVerify],
    ['Web Crypto', webCryptoVerify],
  ])('verifies with %s, and only as it was signed', async (_name, verifySignature) => {
    await verifyStatement(statement, { issuerKeys: [key], verifySignature });
    const parts = decodeSign1(statement);
    const altered = encodeSign1({ ...parts, payload: utf8('another') });
    await expect(verifyStatement(altered, { issuerKeys: [key], verifySignature })).rejects.toMatchObject({
      code: 'statement_signature_invalid',
    });
    const outOfRange = new Uint8Array([...Buffer.from(ORDER, 'hex'), ...parts.signature.subarray(66)]);
    const oversized = encodeSign1({ ...parts, signature: outOfRange });
    await expect(verifyStatement(oversized, { issuerKeys: [key], verifySignature })).rejects.toMatchObject({
      code: 'signature_malformed',
    });
  });

  it('has a key that COSE_Key carries there and back', () => {
    const carried = coseKeyFromJwk(key, keyThumbprint(key));
    expect(encodeCbor(carried as CborValue).length).toBeGreaterThan(132);
    expect(jwkFromCoseKey(carried)).toMatchObject({ crv: 'P-521', kty: 'EC' });
  });
});
