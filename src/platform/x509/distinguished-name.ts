import { BmpString, IA5String, PrintableString, TeletexString, UniversalString, Utf8String } from 'asn1js';
import { CertificateUnusable } from './certificate-unusable.js';
import { content, type DerElement, objectIdentifier, sequence, set } from './der.js';

interface Attribute {
  /** Its object identifier. */
  readonly type: string;
  /** Undefined if it is not text. */
  readonly text: string | undefined;
  readonly comparable: string;
}

/** A name of RFC 5280 section 4.1.2.4: each part is its attributes in one comparable text. */
export interface DistinguishedName {
  readonly parts: readonly string[];
  /** All its attributes in order, as written. */
  readonly attributes: readonly Attribute[];
  /** Its common names and mail addresses, as written. */
  readonly commonNames: readonly string[];
  readonly mailAddresses: readonly string[];
}

const COMMON_NAME = '2.5.4.3';
const MAIL_ADDRESS = '1.2.840.113549.1.9.1';
const TEXTS = [Utf8String, PrintableString, TeletexString, BmpString, IA5String];
const LAST_POINT = 0x10ffff;

function textOf(element: DerElement | undefined): string | undefined {
  if (element instanceof UniversalString) return universalText(element);
  if (!element || !TEXTS.some((kind) => element instanceof kind)) return undefined;
  return (element as unknown as { getValue(): string }).getValue();
}

/**
 * Text of four bytes a character; undefined if one is not Unicode. The parser's own text keeps two of the bytes, so that
 * U+10041 would be an "A".
 */
function universalText(element: UniversalString): string | undefined {
  const bytes = content(element);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const points = Array.from({ length: bytes.length / 4 }, (_, place) => view.getUint32(4 * place));
  return points.every((point) => point <= LAST_POINT) ? String.fromCodePoint(...points) : undefined;
}

/** Texts are equal in any encoding, ignoring ASCII case and repeated spaces (as OpenSSL compares). */
function comparableText(text: string): string {
  const folded = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return folded.replaceAll(/[ \t\n\v\f\r]+/g, ' ').replaceAll(/^ | $/g, '');
}

function readAttribute(element: DerElement): Attribute {
  const [type, value] = sequence(element);
  const text = textOf(value);
  const bytes = Buffer.from(value?.toBER() ?? new ArrayBuffer()).toString('hex');
  const comparable = text === undefined ? `#${bytes}` : `=${comparableText(text)}`;
  return { type: objectIdentifier(type), text, comparable: `${objectIdentifier(type)}${comparable}` };
}

/** Reads a Name. @throws {CertificateUnusable} */
export function readName(element: DerElement | undefined): DistinguishedName {
  const parts = sequence(element).map((part) => set(part).map(readAttribute));
  if (parts.some((part) => part.length === 0)) throw new CertificateUnusable('a part of one of its names is empty');
  const attributes = parts.flat();
  const texts = (wanted: string) =>
    attributes.flatMap(({ type, text }) => (type === wanted && text !== undefined ? [text] : []));
  return {
    parts: parts.map((part) => JSON.stringify(part.map(({ comparable }) => comparable).sort())),
    attributes,
    commonNames: texts(COMMON_NAME),
    mailAddresses: texts(MAIL_ADDRESS),
  };
}

/** Whether one name begins with all parts of the other. */
export function isBelow(name: DistinguishedName, base: DistinguishedName): boolean {
  return base.parts.every((part, place) => name.parts[place] === part);
}

/** Whether two names are the same. */
export function isSameName(left: DistinguishedName, right: DistinguishedName): boolean {
  return left.parts.length === right.parts.length && isBelow(left, right);
}
