import { z } from 'zod';
import type { PublicJwk } from '../core/cose/public-key.js';

export const TENANCY_DID_PATH = '/archivist/v1/didweb/:uuid/did.json';
export const DID_PATH = '/archivist/v1/didweb/did.json';

/** The DID document in a response. */
export const didDocumentSchema = z.strictObject({
  '@context': z.array(z.string()),
  id: z.string(),
  verificationMethod: z.array(
    z.strictObject({
      id: z.string(),
      type: z.string(),
      controller: z.string(),
      publicKeyJwk: z.record(z.string(), z.string()),
    }),
  ),
  assertionMethod: z.array(z.string()),
});

/**
 * Returns the DID document with every key that ever signed a statement (DID Core 5.2; its members are those of the
 * original's document).
 */
export function didDocument(
  did: string,
  keys: readonly { keyId: string; algorithm: string; jwk: PublicJwk }[],
): Record<string, unknown> {
  return {
    '@context': ['https://www.w3.org/ns/did/v1'],
    id: did,
    verificationMethod: keys.map(({ keyId, algorithm, jwk }) => ({
      id: `#${keyId}`,
      type: 'JsonWebKey',
      controller: did,
      publicKeyJwk: { ...jwk, kid: keyId, alg: algorithm },
    })),
    assertionMethod: keys.map(({ keyId }) => `#${keyId}`),
  };
}
