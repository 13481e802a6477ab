import { LRUCache } from 'lru-cache';

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{White_Space}]/gu;
const ENCODED = /(?:%[0-9a-f]{2})+/gi;
/** Host, port and path. In a did:web the port follows an encoded colon, which looks like any other once decoded. */
const DID_WEB = /^did:web:((?:\[[^\]]*\]|[^:/\\;?#]*)(?::\d+(?=$|[:/\\;?#]))?)(.*)$/su;
const HTTP = /^(https?):[/\\]*([^/\\?#]*)(.*)$/su;
/** Where a DID URL's or a URL's path ends (RFC 3986 section 3, DID Core section 3.2). */
const PATH_END = /[;?#]/u;

/** Encodings within encodings that are read: each costs a reading of the whole name. */
const MOST_ROUNDS = 8;

/** What a name identifies, normalised so that two of them can be compared. */
interface Place {
  readonly kind: 'did:web' | 'http';
  /** Host, with the port unless it is the default. */
  readonly authority: string;
  readonly path: readonly string[];
}

/**
 * True if an issuer is one of these names or below one, as the DIDs of tenancies are, in any spelling.
 * Names are compared as did:web resolves them and RFC 3986 (section 6.2) normalises them, but more widely:
 * percent-encoding is decoded everywhere and repeatedly; letter case, invisible characters, empty and dot segments, the
 * parts after the path and the scheme's `s` are ignored. A name that a reader could mistake for the service's own
 * counts as the service's own, and so does one with more encodings within each other than are read.
 */
export function isReservedIssuer(name: string, reserved: readonly string[]): boolean {
  const place = placeOf(name);
  if (place === 'obscure') return reserved.length > 0;
  return reserved.some((each) => {
    if (name === each) return true;
    const own = placeOf(each);
    return place !== undefined && own !== undefined && own !== 'obscure' && isWithin(place, own);
  });
}

function isWithin(place: Place, own: Place): boolean {
  return (
    place.kind === own.kind &&
    place.authority === own.authority &&
    own.path.every((segment, index) => place.path[index] === segment)
  );
}

/** Places of names: an issuer signs many statements. */
const knownPlaces = new LRUCache<string, { readonly place: Place | 'obscure' | undefined }>({ max: 1_000 });

function placeOf(name: string): Place | 'obscure' | undefined {
  const known = knownPlaces.get(name);
  if (known) return known.place;
  const place = foundPlace(name);
  knownPlaces.set(name, { place });
  return place;
}

function foundPlace(name: string): Place | 'obscure' | undefined {
  const plain = plainSpelling(name);
  if (plain === undefined) return 'obscure';
  const did = DID_WEB.exec(plain);
  if (did) return { kind: 'did:web', authority: authorityOf('https', did[1]!), path: pathOf(did[2]!, /[:/\\]/u) };
  const url = HTTP.exec(plain);
  if (url) return { kind: 'http', authority: authorityOf(url[1]!, url[2]!), path: pathOf(url[3]!, /[/\\]/u) };
  return undefined;
}

/** Removes encoding, case, compatibility forms and invisible characters; undefined for an obscure name. */
function plainSpelling(name: string): string | undefined {
  let plain = name;
  for (let round = 0; round <= MOST_ROUNDS; round += 1) {
    const before = plain;
    plain = plain
      .normalize('NFKC')
      .replace(INVISIBLE, '')
      .replace(ENCODED, (bytes) => {
        try {
          return decodeURIComponent(bytes);
        } catch {
          return bytes.toLowerCase();
        }
      });
    if (plain === before) return plain.toLowerCase();
  }
  return undefined;
}

function pathOf(text: string, separator: RegExp): string[] {
  const path: string[] = [];
  for (const segment of text.split(PATH_END)[0]!.split(separator)) {
    if (segment === '..') path.pop();
    else if (segment !== '' && segment !== '.') path.push(segment);
  }
  return path;
}

/**
 * The host as it is resolved, with the port unless it is the scheme's default; text that is no host is returned
 * unchanged.
 */
function authorityOf(scheme: string, text: string): string {
  try {
    const { hostname, port } = new URL(`${scheme}://${text}`);
    return `${hostname.replace(/\.$/u, '')}:${port}`;
  } catch {
    return text;
  }
}
