import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64Url, utf8 } from '../../../src/core/bytes.js';
import { coseKeyFromJwk, jwkFromCoseKey, keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { readKeyDocument } from '../../../src/core/cose/key-document.js';
import { plainVerify } from '../../../src/core/cose/plain-verify.js';
import { publicJwk } from '../../../src/core/cose/public-key.js';
import { decodeSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { webCryptoVerify } from '../../../src/core/cose/web-crypto-verify.js';
import { verifyStatement } from '../../../src/core/verify/verify-statement.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import { ALGORITHMS, sampleIssuer, sampleStatement } from '../../scitt/sample-statement.js';

const NAMES = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[];
const VERIFIERS = { OpenSSL: nodeVerify, 'Web Crypto': webCryptoVerify, 'plain JavaScript': plainVerify } as const;
type Verifier = keyof typeof VERIFIERS;
const issuers = new Map(NAMES.map((name) => [name, sampleIssuer(ALGORITHMS[name])]));
const pairs = NAMES.flatMap((name) =>
  (Object.keys(VERIFIERS) as Verifier[]).map((verifier) => [name, verifier] as const),
);

function sample(name: keyof typeof ALGORITHMS) {
  const issuer = issuers.get(name)!;
  return { issuer, statement: sampleStatement(issuer), jwk: issuer.publicKey.export({ format: 'jwk' }) };
}

/** The numbers that no part of a signature reaches, by the algorithm that they are of. */
function outOfRange(name: keyof typeof ALGORITHMS, length: number): Uint8Array | undefined {
  if (name === 'EdDSA' || name === 'Ed25519') return undefined;
  return new Uint8Array(length).fill(0xff);
}

describe('a statement that may be registered verifies offline, and only as it was signed,', () => {
  it.each(pairs)('with %s by %s', async (name, verifier) => {
    const { statement, jwk } = sample(name);
    const trust = { issuerKeys: [publicJwk({ ...jwk, kid: 'testkey' })], verifySignature: VERIFIERS[verifier] };
    await verifyStatement(statement, trust);
    const parts = decodeSign1(statement);
    const refused = (changed: Partial<typeof parts>, code: string) =>
      expect(verifyStatement(encodeSign1({ ...parts, ...changed }), trust)).rejects.toMatchObject({ code });
    await refused({ payload: utf8('another') }, 'statement_signature_invalid');
    const { signature } = parts;
    await refused({ signature: signature.subarray(1) }, 'signature_malformed');
    await refused({ signature: new Uint8Array([0, ...signature]) }, 'signature_malformed');
    const beyond = outOfRange(name, signature.length);
    if (beyond) await refused({ signature: beyond }, 'signature_malformed');
    const turned = signature.slice();
    turned[turned.length - 1]! ^= 1;
    await refused({ signature: turned }, 'statement_signature_invalid');
  });

  it('unless its payload is no digest of the hash that it names', async () => {
    const { issuer, jwk } = sample('ES256');
    const headers = new Map<number, number | undefined>([
      [258, -16],
      [-6800, undefined],
    ]);
    const issuerKeys = [publicJwk({ ...jwk, kid: 'testkey' })];
    await verifyStatement(sampleStatement(issuer, { headers }), { issuerKeys });
    const short = sampleStatement(issuer, { headers, payload: utf8('short') });
    await expect(verifyStatement(short, { issuerKeys })).rejects.toMatchObject({ code: 'malformed' });
  });

  it.each(['PS256', 'PS384', 'PS512'] as const)(
    'by the %s key of those without a name that signed it',
    async (name) => {
      const { issuer, jwk } = sample(name);
      const genuine = publicJwk(jwk);
      let statement = sampleStatement(issuer);
      // Salts are random: about every third signature is above the smallest modulus, and so is not of its key.
      while (decodeSign1(statement).signature[0]! < 0x80) statement = sampleStatement(issuer);
      const modulus = fromBase64(genuine.kty === 'RSA' ? genuine.n : '').fill(0, 1);
      modulus[0] = 0x80;
      modulus[modulus.length - 1] = 1;
      const smaller = publicJwk({ ...jwk, n: toBase64Url(modulus) });
      const { key } = await verifyStatement(statement, { issuerKeys: [smaller, genuine] });
      expect(key).toEqual(genuine);
      const code = 'issuer_key_not_trusted';
      await expect(verifyStatement(statement, { issuerKeys: [smaller] })).rejects.toMatchObject({ code });
    },
  );

  it.each(NAMES)('with a %s key from a JWK, a JWK set, a DID document or a COSE key', async (name) => {
    const { statement, jwk } = sample(name);
    const bytes = (value: unknown) => utf8(JSON.stringify(value));
    const named = { ...jwk, kid: 'testkey' };
    const carried = jwkFromCoseKey(coseKeyFromJwk(publicJwk(jwk), utf8('testkey')));
    for (const keys of [
      readKeyDocument(bytes(named)),
      readKeyDocument(bytes({ keys: [{ kty: 'oct' }, named] })),
      readKeyDocument(bytes({ verificationMethod: [{ id: 'did:web:a.example#testkey', publicKeyJwk: jwk }] })),
      [carried],
    ]) {
      expect(keyThumbprint(keys[0]!)).toEqual(keyThumbprint(publicJwk(jwk)));
      await verifyStatement(statement, { issuerKeys: keys });
    }
  });

  it.each(NAMES)(
    'and with %s never by a key of another kind, nor under a restricted one’s other algorithm',
    async (name) => {
      const { statement } = sample(name);
      const code = 'algorithm_not_allowed';
      for (const [other, issuer] of issuers) {
        const jwk = issuer.publicKey.export({ format: 'jwk' });
        // The same algorithm by its other number.
        if (jwk.crv !== undefined && jwk.crv === sample(name).jwk.crv) continue;
        const restricted = publicJwk({ ...jwk, kid: 'testkey', alg: other });
        if (other === name) continue;
        const refused = expect(verifyStatement(statement, { issuerKeys: [restricted] })).rejects;
        await refused.toMatchObject({ code });
      }
    },
  );
});
