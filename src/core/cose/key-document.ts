import { VerificationError } from '../errors.js';
import { parseUnambiguousJson } from '../vcon/unambiguous-json.js';
import { decodeCbor } from './cbor.js';
import { decodeCoseKeySet, jwkFromCoseKey } from './cose-key.js';
import { KNOWN_KEYS, type PublicJwk, publicJwk } from './public-key.js';

type Json = Readonly<Record<string, unknown>>;

/** First characters of a JSON document; none of them starts a COSE key set or key that we could use. */
const JSON_START = /^[\s]*[{[]/;

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `not a key document: ${reason}`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Key of a DID document's verification method, named by the method's fragment unless the key has a kid itself. */
function methodKey(method: unknown): unknown {
  if (!isObject(method) || !isObject(method['publicKeyJwk'])) return undefined;
  const fragment = typeof method['id'] === 'string' ? method['id'].split('#')[1] : undefined;
  return { ...(fragment === undefined ? {} : { kid: fragment }), ...method['publicKeyJwk'] };
}

/**
 * The methods whose keys sign statements (W3C DID Core 5.3.2): those that `assertionMethod` names or contains, because a
 * key that its controller lists only for key agreement or sign-in makes none. All methods where that member is absent.
 */
function statementMethods({ id, verificationMethod, assertionMethod }: Json): unknown[] {
  const methods = (verificationMethod ?? []) as unknown[];
  if (!Array.isArray(assertionMethod)) return methods;
  const document = typeof id === 'string' ? id : '';
  const full = (name: unknown) => (typeof name === 'string' ? name.replace(/^#/, `${document}#`) : undefined);
  const named = new Set(assertionMethod.map(full));
  const isNamed = (name: unknown) => typeof name === 'string' && named.has(full(name));
  return [...methods.filter((each) => isObject(each) && isNamed(each['id'])), ...assertionMethod];
}

function documentIn(text: string): unknown {
  try {
    return parseUnambiguousJson(text);
  } catch (error) {
    throw error instanceof VerificationError ? malformed(error.message) : error;
  }
}

function jsonKeys(text: string): unknown[] {
  const document = documentIn(text);
  if (!isObject(document)) throw malformed('it is a JSON list');
  const { keys, verificationMethod, assertionMethod } = document;
  if (Array.isArray(keys)) return keys;
  if (Array.isArray(verificationMethod ?? assertionMethod))
    return statementMethods(document)
      .map(methodKey)
      .filter((key) => key !== undefined);
  if ('kty' in document) return [document];
  throw malformed('it is neither a JWK set, a JWK nor a DID document');
}

/** Keys that we cannot use, such as those of encryption, stand beside others in published sets: they are skipped. */
function usable(read: () => PublicJwk): PublicJwk[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof VerificationError && error.code === 'unsupported') return [];
    throw error;
  }
}

function cborKeys(bytes: Uint8Array): PublicJwk[] {
  const key = decodeCbor(bytes);
  return key instanceof Map ? usable(() => jwkFromCoseKey(key)) : decodeCoseKeySet(bytes);
}

/**
 * Reads published keys in any of these forms: a COSE Key Set or COSE_Key (CBOR), a JWK Set, a JWK, or a DID document. Keys of
 * kinds that sign no evidence are passed over.
 * @throws {VerificationError} `malformed` for any other form, `unsupported` if no usable key is left, `key_invalid`
 */
export function readKeyDocument(bytes: Uint8Array): PublicJwk[] {
  const text = new TextDecoder().decode(bytes);
  const keys = JSON_START.test(text) ? jsonKeys(text).flatMap((key) => usable(() => publicJwk(key))) : cborKeys(bytes);
  if (keys.length === 0)
    throw new VerificationError('unsupported', `it contains no key for signatures of a supported kind: ${KNOWN_KEYS}`);
  return keys;
}
