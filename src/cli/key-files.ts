import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readKeyDocument } from '../core/cose/key-document.js';
import { type PublicJwk, publicJwk } from '../core/cose/public-key.js';
import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { decodeKeyManifests } from '../core/keys/verify-key-manifests.js';
import { readInput } from './read-input.js';

const PEM = /^\s*-----BEGIN ([A-Z0-9 ]+)-----/;

/** Reads the public key of a PEM file or certificate. A private key is refused. */
function pemKey(pem: string, label: string): PublicJwk {
  if (label.includes('PRIVATE')) throw new VerificationError('key_invalid', 'it is a private key: give the public one');
  return publicJwk(jwkOf(publicKeyOf(pem)));
}

function publicKeyOf(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch {
    throw new VerificationError('malformed', 'it is not a public key or certificate in PEM');
  }
}

/** Returns an empty JWK for a kind of key that has no JWK form; no such key signs evidence. */
function jwkOf(key: KeyObject): JsonWebKey {
  try {
    return key.export({ format: 'jwk' });
  } catch {
    return {};
  }
}

function keysOf(bytes: Uint8Array): PublicJwk[] {
  const text = new TextDecoder().decode(bytes);
  const label = PEM.exec(text)?.[1];
  return label === undefined ? readKeyDocument(bytes) : [pemKey(text, label)];
}

/** A key manifest contains keys, but they count only under its root key's fingerprint. */
function isKeyManifest(bytes: Uint8Array): boolean {
  try {
    return decodeKeyManifests(bytes).length > 0;
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}

const ACCEPTED = 'give a COSE key set, a JWK set, a JWK, a did.json, or a public key or certificate in PEM';

/** Keys inside the evidence are never used, so the user must know where to get them. */
const WHERE_KEYS_ARE =
  "A service publishes its logs' keys at <service>/.well-known/scitt-keys and its issuers' keys at <service>/archivist/v1/didweb/did.json: fetch both over a channel that you trust, for example with curl -o log-keys.cbor <service>/.well-known/scitt-keys";

/**
 * Reads the keys in files: COSE key set, JWK set, JWK, did.json, or PEM of a public key or a certificate.
 * @param option what to give if there are no files
 * @throws {UsageError}
 */
export async function readKeyFiles(option: string, paths: readonly string[] = []): Promise<PublicJwk[]> {
  if (paths.length === 0) throw new UsageError(`give ${option}. ${WHERE_KEYS_ARE}`);
  const keys: PublicJwk[] = [];
  for (const path of paths) {
    const bytes = await readInput(path);
    try {
      keys.push(...keysOf(bytes));
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      if (isKeyManifest(bytes)) throw new UsageError(`${path} is a key manifest: give it with --root and --manifest`);
      throw new UsageError(`no keys in ${path} (${error.message}): ${ACCEPTED}`);
    }
  }
  return keys;
}
