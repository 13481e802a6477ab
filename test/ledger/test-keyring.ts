import { sign } from 'node:crypto';
import { toBase64Url } from '../../src/core/bytes.js';
import { Algorithm } from '../../src/core/cose/algorithms.js';
import { keyThumbprint } from '../../src/core/cose/cose-key.js';
import type { PublicJwk } from '../../src/core/cose/public-key.js';
import type { Signer } from '../../src/core/cose/signature.js';
import type { LedgerContext } from '../../src/ledger/ledger-context.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';

type Keyring = LedgerContext['keyring'];

/** Real P-256 keys in memory, one a role, which can be rotated. */
export interface TestKeyring extends Keyring {
  rotate(role: string): void;
  /** Revokes every earlier key of a role. */
  revokeEarlier(role: string): void;
  jwks(role: string): PublicJwk[];
}

function newSigner(): Signer {
  const { publicKey, privateKey } = newKeyPair({ type: 'ec', curve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string };
  const jwk: PublicJwk = { kty: 'EC', crv: 'P-256', x, y };
  return {
    alg: Algorithm.es256,
    kid: keyThumbprint(jwk),
    publicKey: jwk,
    sign: async (message) => new Uint8Array(sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' })),
  };
}

export function createTestKeyring(): TestKeyring {
  const signers = new Map<string, Signer[]>();
  const revoked = new Set<Signer>();
  const of = (role: string): Signer[] => {
    if (!signers.has(role)) signers.set(role, [newSigner()]);
    return signers.get(role)!;
  };
  const jwks = (role: string): PublicJwk[] => of(role).map((signer) => signer.publicKey);
  return {
    signer: (role) => of(role).at(-1)!,
    everyKey: (roles) =>
      roles.flatMap((role) =>
        of(role).map((signer) => ({
          keyId: toBase64Url(signer.kid),
          state: revoked.has(signer) ? 'revoked' : 'active',
          jwk: signer.publicKey,
        })),
      ) as never,
    rotate: (role) => of(role).push(newSigner()),
    revokeEarlier(role) {
      for (const signer of of(role).slice(0, -1)) revoked.add(signer);
    },
    jwks,
  };
}
