import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A token in a PKCS #11 module, and the file with its user's PIN. */
export interface Pkcs11Token {
  /** The module's shared library. */
  readonly modulePath: string;
  /** The token's label. */
  readonly token: string;
  /** Its serial number, if several tokens have the label. */
  readonly serial: string | undefined;
  readonly pinFile: string;
}

const PATH_ATTRIBUTES = ['token', 'serial'];
const QUERY_ATTRIBUTES = ['module-path', 'pin-source'];

/**
 * Reads a PKCS #11 URI (RFC 7512) that names a module by its path, a token by its label and maybe its serial number, and a PIN by its file:
 * `pkcs11:token=archive?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/run/secrets/pin`.
 * @throws {TypeError} saying what the URI has to have, and nothing that it has
 */
export function parsePkcs11Uri(text: string): Pkcs11Token {
  const [scheme, rest] = splitOnce(text, ':');
  if (scheme !== 'pkcs11') throw new TypeError('must be a URI that begins with pkcs11:');
  const [path, query] = splitOnce(rest, '?');
  const names = attributes(path, ';', PATH_ATTRIBUTES);
  const access = attributes(query, '&', QUERY_ATTRIBUTES);
  return {
    modulePath: absolutePath(access.get('module-path'), 'module-path'),
    token: names.get('token') || fail('must name a token by its label: token=…'),
    serial: names.get('serial'),
    pinFile: absolutePath(access.get('pin-source'), 'pin-source'),
  };
}

function attributes(text: string, separator: string, known: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of text === '' ? [] : text.split(separator)) {
    const [name, value] = splitOnce(part, '=');
    if (name === 'pin-value') fail('must not have a pin-value: keep the PIN in a file, and name it by pin-source');
    if (!known.includes(name) || found.has(name)) fail(`may have ${known.join(' and ')} here, each once`);
    found.set(name, decoded(value));
  }
  return found;
}

function absolutePath(value: string | undefined, name: string): string {
  const path = value?.startsWith('file:///') ? fileURLToPath(value) : value;
  if (!path || !isAbsolute(path)) fail(`must have ${name}=, an absolute path`);
  return path!;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return fail('has a % that begins no byte');
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const place = text.indexOf(separator);
  return place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place + separator.length)];
}

function fail(what: string): never {
  throw new TypeError(what);
}
