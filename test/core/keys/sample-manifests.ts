import { p256 } from '@noble/curves/nist.js';
import { fromBase64, toHex } from '../../../src/core/bytes.js';
import type { PublicJwk } from '../../../src/core/cose/public-key.js';
import type { KeyManifest, ManifestKey } from '../../../src/core/keys/key-manifest.js';
import { namedKey } from '../../../src/core/keys/manifest-key.js';
import { sha256 } from '../../../src/core/sha256.js';
import { repeatableSigner } from '../cose/repeatable-signer.js';

/** Root keys whose signatures are the same each time. They are public: never use them. */
export function sampleRoot(scalar: number) {
  const secret = new Uint8Array(32).fill(scalar);
  const point = p256.getPublicKey(secret, false);
  return repeatableSigner(toHex(secret), toHex(point.subarray(1, 33)), toHex(point.subarray(33)));
}

const EC = (scalar: number) => sampleRoot(scalar).publicKey as unknown as Record<string, string>;
const ED25519 = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
const SECP256K1 = {
  kty: 'EC',
  crv: 'secp256k1',
  x: 'eb5mfvncu6xVoGKVzocLBwKb_NstzijZWfKBWxb4F5g',
  y: 'SDradyajxGVdpPv8DhEIqP0XtEimhVQZnEfQj_sQ1Lg',
};
const RSA = {
  kty: 'RSA',
  n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
  e: 'AQAB',
};

const STARTED = 1_760_000_000_000;
const KEYS_LOG = 'log/0199c2d0-0000-7000-8000-000000000003';

function key(role: string, jwk: Record<string, string>, more: Partial<ManifestKey> = {}): ManifestKey {
  return { role, ...namedKey(jwk), state: 'active', validFromMs: STARTED - 1000, since: 1, ...more };
}

const emptyRoot = sha256(new Uint8Array());

/** The first manifest of a deployment that had some entries in its logs before. */
export function firstManifest(root: PublicJwk): KeyManifest {
  return {
    number: 1,
    issuedAtMs: STARTED,
    firstIssuedAtMs: STARTED,
    previous: undefined,
    root,
    keys: [
      key('chain', SECP256K1),
      key('issuer', EC(11)),
      key('note', ED25519),
      key('seal', EC(13)),
      key('statement_receipt', EC(12)),
      key('token', RSA),
    ],
    logs: [
      {
        name: 'log/0199c2d0-0000-7000-8000-000000000001',
        kind: 'public_statement',
        size: 0n,
        root: emptyRoot,
        firstSize: 0n,
      },
      {
        name: 'log/0199c2d0-0000-7000-8000-000000000002',
        kind: 'private_statement',
        size: 7n,
        root: sha256(fromBase64('cm9vdA==')),
        firstSize: 7n,
      },
      { name: KEYS_LOG, kind: 'keys', size: 0n, root: emptyRoot, firstSize: 0n },
    ],
    issuer: 'did:web:archive.example:archivist:v1:didweb',
    subject: KEYS_LOG,
  };
}

/** The one after it: the issuer key stolen and replaced, another root key for what follows. */
export function nextManifest(before: KeyManifest, previous: Uint8Array, root: PublicJwk): KeyManifest {
  const issuedAtMs = before.issuedAtMs + 3_600_000;
  const sizes = Object.fromEntries(before.logs.map(({ name, size }) => [name, size]));
  const ended = before.keys.map(
    (each): ManifestKey =>
      each.role === 'issuer' && each.state === 'active'
        ? { ...each, state: 'revoked', validUntilMs: issuedAtMs, revokedAt: sizes }
        : each,
  );
  const fresh = key('issuer', EC(20 + before.number), { validFromMs: issuedAtMs, since: before.number + 1 });
  return { ...before, number: before.number + 1, issuedAtMs, previous, root, keys: [...ended, fresh] };
}
