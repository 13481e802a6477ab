import { toHex, utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { asRead, asStored, NotStorableError } from './conserver-forms.js';
import { jcs, NoCanonicalFormError } from './jcs.js';
import { type JsonDocument, JsonError, readJson } from './json-document.js';
import { pythonJson } from './python-json.js';

/** SHA-256 of one form of a document in lower-case hex, or why the document has no such form. */
export type FormHash =
  | { readonly hash: string; readonly reason?: undefined }
  | { readonly hash: undefined; readonly reason: string };

/** Digests of the forms in which a vCon meets a hash. */
export interface VconHashes {
  /** The bytes as they are. */
  readonly raw: { readonly hash: string };
  /** As a conserver's link reads it from the store and writes it: its `Vcon.hash`, and the webhook's body. */
  readonly upstream: FormHash;
  /** The same after a link has written the vCon back. */
  readonly stored: FormHash;
  /** RFC 8785: equal whatever order, white space or escapes a copy has. */
  readonly jcs: FormHash & { readonly lossy: boolean };
}

function attempt(form: () => string, hash: Sha256): FormHash {
  try {
    return { hash: toHex(hash(utf8(form()))) };
  } catch (error) {
    if (!(error instanceof NotStorableError || error instanceof NoCanonicalFormError)) throw error;
    return { hash: undefined, reason: error.message };
  }
}

/** The JCS digest of a document that has been read. */
export function jcsHash(document: JsonDocument, hash: Sha256 = sha256): VconHashes['jcs'] {
  let lossy = false;
  const form = attempt(() => {
    const canonical = jcs(document);
    lossy = canonical.lossy;
    return canonical.text;
  }, hash);
  return { ...form, lossy };
}

/** Every digest under which a file of a vCon may be known. Never throws: a form that cannot be says why. */
export function vconHashes(bytes: Uint8Array, hash: Sha256 = sha256): VconHashes {
  const raw = { hash: toHex(hash(bytes)) };
  let document: JsonDocument;
  try {
    document = readJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const none: FormHash = { hash: undefined, reason: error.message };
    return { raw, upstream: none, stored: none, jcs: { ...none, lossy: false } };
  }
  return {
    raw,
    upstream: attempt(() => pythonJson(asRead(document)), hash),
    stored: attempt(() => pythonJson(asStored(asRead(document))), hash),
    jcs: jcsHash(document, hash),
  };
}
