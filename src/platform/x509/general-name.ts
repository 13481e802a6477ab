import { CertificateUnusable } from './certificate-unusable.js';
import { content, contextTag, type DerElement, inside, sequence } from './der.js';
import { type DistinguishedName, readName } from './distinguished-name.js';

/**
 * A name that a certificate gives its holder, or a constraint on such names (RFC 5280 section 4.2.1.6), of the kinds
 * that we can compare.
 */
export type GeneralName =
  | { readonly kind: 'mail' | 'dns' | 'uri'; readonly text: string }
  | { readonly kind: 'ip'; readonly bytes: Uint8Array }
  | { readonly kind: 'directory'; readonly name: DistinguishedName }
  /** A kind that cannot be compared; `tag` is its context tag. */
  | { readonly kind: 'other'; readonly tag: number };

const TAGS: Readonly<Record<number, 'mail' | 'dns' | 'uri'>> = { 1: 'mail', 2: 'dns', 6: 'uri' };
const DIRECTORY = 4;
const IP = 7;

/** Reads a GeneralName. @throws {CertificateUnusable} */
export function readGeneralName(element: DerElement | undefined): GeneralName {
  const tag = contextTag(element);
  if (!element || tag === undefined) throw new CertificateUnusable('one of its names cannot be read');
  const kind = TAGS[tag];
  // The type is IA5String: bytes beyond ASCII are not interpreted, and compare equal only to themselves.
  if (kind) return { kind, text: Buffer.from(content(element)).toString('latin1') };
  if (tag === IP) return { kind: 'ip', bytes: content(element) };
  if (tag === DIRECTORY) return { kind: 'directory', name: readName(inside(element)[0]) };
  return { kind: 'other', tag };
}

/** Reads GeneralNames. @throws {CertificateUnusable} */
export function readGeneralNames(element: DerElement): readonly GeneralName[] {
  return sequence(element).map(readGeneralName);
}
