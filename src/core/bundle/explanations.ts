import { toHex } from '../bytes.js';
import { keyThumbprint } from '../cose/cose-key.js';
import { readKeyDocument } from '../cose/key-document.js';
import type { PublicJwk } from '../cose/public-key.js';
import { VerificationError } from '../errors.js';
import { type Findings, notCovered } from '../verify/verdict.js';
import { type BundleFiles, type BundleIndex, INDEX_PATH } from './bundle-index.js';
import { isExplanation, PAGE_PATH, placeOf } from './bundle-layout.js';
import type { Listed } from './check-listing.js';

/** The keys that a verifier was given. */
interface GivenKeys {
  readonly logKeys: readonly PublicJwk[];
  readonly issuerKeys: readonly PublicJwk[];
}

const CHANGES: Readonly<Record<Listed, string>> = {
  'as listed': '',
  'not listed': '',
  changed: `. It is not the file that ${INDEX_PATH} lists`,
  lost: `. ${INDEX_PATH} lists it, but it is missing in the bundle`,
};

function thumbprint(key: PublicJwk): string {
  return `${key.kty} ${key.kty === 'RSA' ? key.n : toHex(keyThumbprint(key))}`;
}

const MANIFESTS = 'keys/key-manifest';
const MANIFEST = 'a list of keys, used only with the fingerprint of the root key, which checks it';
const KEYS = 'a copy of keys, which is not used to check evidence';

/** What a copy has that the verifier was not given. Keys that were given and are not in it are nothing to tell. */
function difference(copy: Uint8Array, given: readonly PublicJwk[]): string {
  try {
    const known = new Set(given.map(thumbprint));
    const keys = readKeyDocument(copy).map(thumbprint);
    // Evidence that needs no issuer's keys is checked without any.
    const other = given.length === 0 ? 0 : keys.filter((key) => !known.has(key)).length;
    return other === 0 ? '' : `. ${other} of its ${keys.length} keys are not among the keys that you gave`;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return '. It cannot be read as keys';
  }
}

function keysGiven(path: string, { logKeys, issuerKeys }: GivenKeys): readonly PublicJwk[] {
  return /^keys\/log-keys/.test(path) ? logKeys : issuerKeys;
}

/** Names a bundle's text and copies of keys, which are no evidence, and how they differ from index and given keys. */
export function explanations(
  files: BundleFiles,
  index: BundleIndex | undefined,
  is: (path: string) => Listed,
  given: GivenKeys,
): Partial<Findings>[] {
  const paths = new Set([...Object.keys(files), ...(index?.files.map(({ path }) => path) ?? [])]);
  return [...paths].sort().flatMap((path) => {
    const kind = placeOf(path)?.kind;
    // What a page shows is compared by `pageFindings`.
    if (!isExplanation(kind) || (path === PAGE_PATH && Object.hasOwn(files, path))) return [];
    const bytes = Object.hasOwn(files, path) ? files[path] : undefined;
    const isManifest = path.startsWith(MANIFESTS);
    const what = isManifest ? MANIFEST : kind === 'keys-copy' ? KEYS : 'a text for people';
    const keys = kind === 'keys-copy' && bytes && !isManifest ? difference(bytes, keysGiven(path, given)) : '';
    return [notCovered(path, 'explanation', `${what}${CHANGES[is(path)]}${keys}`)];
  });
}
