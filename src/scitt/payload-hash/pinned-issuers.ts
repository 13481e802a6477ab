import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { readTrustAnchor, type TrustAnchor } from '../trust-anchor.js';

const fileSchema = z.strictObject({
  issuers: z
    .array(
      z.strictObject({
        issuer: z.string().min(1).max(1024),
        kid: z.string().min(1).max(256),
        public_key: z.union([z.string(), z.record(z.string(), z.unknown())]),
      }),
    )
    .min(1)
    .max(1_000),
});

/**
 * Reads the issuers whose keys the operator has pinned, from the text of the configured file: `{"issuers": [{"issuer",
 * "kid", "public_key"}]}`, with the key as a JWK or PEM.
 * @throws {TypeError} describing what is wrong with the file, without its content
 */
export function readPinnedIssuers(text: string, now: Date): TrustAnchor[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError('the file is not JSON');
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  return parsed.data.issuers.map(({ issuer, kid, public_key: key }, place) => {
    try {
      const jwk = typeof key === 'string' ? jwkOfPem(key) : key;
      const read = readTrustAnchor({ issuer, kid, public_key: jwk });
      return { ...read, tenantId: '', anchorId: `pinned-${place + 1}`, createdAt: now };
    } catch (error) {
      const reason = error instanceof ApiError ? error.description : 'public_key: it is not a public key in PEM';
      throw new TypeError(`issuers.${place}.${reason}`);
    }
  });
}

function jwkOfPem(pem: string): Record<string, unknown> {
  if (pem.includes('PRIVATE KEY')) throw new ApiError('bad_request', 'public_key: it is not a public key');
  return { ...createPublicKey(pem).export({ format: 'jwk' }) };
}
