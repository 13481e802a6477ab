import { toHex, utf8 } from '../bytes.js';
import { type Sha256, sha256 } from '../sha256.js';
import { asRead, asStored, NotStorableError, storable } from './conserver-forms.js';
import { jcs, NoCanonicalFormError } from './jcs.js';
import { isJsonObject, type JsonDocument, JsonError, type JsonObject, readJson } from './json-document.js';
import {
  assertDoublesKeep,
  assertReadKeeps,
  assertStoreKeeps,
  assertSubmittedKeeps,
  LostMemberError,
} from './lost-members.js';
import { pythonJson } from './python-json.js';
import { asSubmitted, withoutAdded } from './submitted-form.js';

/** SHA-256 of one form of a document in lower-case hex, or why the document has no such form. */
type FormHash =
  | { readonly hash: string; readonly reason?: undefined }
  | { readonly hash: undefined; readonly reason: string };

/**
 * What a conserver hashes of a vCon, by what happened to the file before (docs/formats/vcon-forms.md):
 * - `upstream`: it was put into the store, and a link read it. This is the conserver's `Vcon.hash`, and the webhook's body;
 * - `stored`: then a link wrote it back;
 * - `submitted`: it was posted to the conserver's API, and a link read it;
 * - `submitted-stored`: then a link wrote it back.
 */
export type ConserverForm = 'upstream' | 'stored' | 'submitted' | 'submitted-stored';

/** One digest of what a conserver hashes. */
export type ConserverHash = FormHash & { readonly form: ConserverForm };

/** Digests of the forms by which a file is recognised as the vCon that was hashed. */
export interface VconHashes {
  /** The bytes as they are. */
  readonly raw: { readonly hash: string };
  /** In the order in which they are tried; submitted forms twice, because releases of the API differ. */
  readonly conserver: readonly ConserverHash[];
  /** RFC 8785: equal for copies that differ in order, white space or escapes only. */
  readonly jcs: FormHash;
}

/** A JCS digest to be recorded, and whether another document may have the same one. */
type JcsHash = FormHash & { readonly lossy: boolean };

type Make = (vcon: JsonObject) => JsonObject;

const CONSERVER_FORMS: readonly (readonly [ConserverForm, Make])[] = [
  ['upstream', asRead],
  ['stored', (vcon) => asStored(asRead(vcon))],
  ...(['modelled', 'plain'] as const).flatMap((entries): [ConserverForm, Make][] => [
    ['submitted', (vcon) => asRead(asSubmitted(vcon, entries))],
    ['submitted-stored', (vcon) => asStored(asRead(asSubmitted(vcon, entries)))],
  ]),
];

function attempt(form: () => string, hash: Sha256 = sha256): FormHash {
  try {
    return { hash: toHex(hash(utf8(form()))) };
  } catch (error) {
    const expected = [NotStorableError, NoCanonicalFormError, LostMemberError].some((kind) => error instanceof kind);
    if (!expected) throw error;
    return { hash: undefined, reason: (error as Error).message };
  }
}

/** Returns the JCS digest of a document that has been read. */
export function jcsHash(document: JsonDocument, hash: Sha256 = sha256): JcsHash {
  let lossy = false;
  const form = attempt(() => {
    const canonical = jcs(document);
    lossy = canonical.lossy;
    return canonical.text;
  }, hash);
  return { ...form, lossy };
}

/** The text whose digest tells a document from every other: none where numbers would be rounded. */
function exactJcs(document: JsonDocument): string {
  const { text, lossy } = jcs(document);
  if (lossy) throw new LostMemberError('an integer beyond ±(2^53−1) has no canonical form of its own');
  assertDoublesKeep(document);
  return text;
}

function conserverHashes(document: JsonDocument): ConserverHash[] {
  const given = isJsonObject(document.value) ? withoutAdded(document.value) : new Map();
  return CONSERVER_FORMS.map(([form, make]) => {
    const text = () => {
      const written = pythonJson(make(storable(document)));
      assertReadKeeps(document, given);
      if (form.startsWith('submitted')) assertSubmittedKeeps(given);
      if (form === 'stored' || form === 'submitted-stored') assertStoreKeeps(given);
      return written;
    };
    return { form, ...attempt(text) };
  });
}

/**
 * Returns every digest under which the vCon in this file may be recorded. A form in which a member of the file would be
 * dropped or overwritten has no digest. Never throws: a form that is impossible has the reason.
 */
export function vconHashes(bytes: Uint8Array): VconHashes {
  const raw = { hash: toHex(sha256(bytes)) };
  let document: JsonDocument;
  try {
    document = readJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const none: FormHash = { hash: undefined, reason: error.message };
    return { raw, conserver: CONSERVER_FORMS.map(([form]) => ({ form, ...none })), jcs: none };
  }
  return { raw, conserver: conserverHashes(document), jcs: attempt(() => exactJcs(document)) };
}
