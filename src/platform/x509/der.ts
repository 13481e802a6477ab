// asn1js parses ASN.1: maintained, the parser of pkijs and @peculiar/x509, limits depth, and knows nothing about
// certificates. The schema packages on top of it take three times as long per certificate and do not validate a chain.
import {
  type BaseBlock,
  BitString,
  Boolean as BooleanBlock,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Sequence,
  Set as SetBlock,
  UTCTime,
} from 'asn1js';
import { toHex } from '../../core/bytes.js';
import { CertificateUnusable } from './certificate-unusable.js';

/** An element of DER as asn1js read it. */
export type DerElement = BaseBlock;

const UNIVERSAL_CLASS = 1;
const CONTEXT_CLASS = 3;
/** SEQUENCE and SET. */
const LIST_TAGS: readonly number[] = [16, 17];
const SHORT_LENGTHS = 128;

function unreadable(): CertificateUnusable {
  return new CertificateUnusable('it cannot be read');
}

function membersOf(element: DerElement): readonly DerElement[] {
  return element instanceof Constructed || element instanceof Sequence || element instanceof SetBlock
    ? (element.valueBlock.value as DerElement[])
    : [];
}

/** The bytes of the shortest form of a length. */
function bytesOfLength(length: number): number {
  return length < SHORT_LENGTHS ? 1 : 1 + Math.ceil((32 - Math.clz32(length)) / 8);
}

/** Each value has only one encoding (X.690 section 10): all readers of the same bytes see the same certificate. */
function assertDer(element: DerElement): void {
  const { isIndefiniteForm, length, blockLength } = element.lenBlock;
  if (isIndefiniteForm || blockLength !== bytesOfLength(length)) throw unreadable();
  // Only lists are made of elements: text, bits and octets in parts have several spellings.
  const { tagClass, tagNumber, isConstructed } = element.idBlock;
  if (tagClass === UNIVERSAL_CLASS && isConstructed && !LIST_TAGS.includes(tagNumber)) throw unreadable();
  if (element instanceof BooleanBlock && ![0, 0xff].includes(element.valueBlock.valueHexView[0] ?? 1))
    throw unreadable();
  for (const member of membersOf(element)) assertDer(member);
}

function read(bytes: Uint8Array): ReturnType<typeof fromBER> {
  try {
    // asn1js reads a view's whole underlying buffer, so it gets a copy.
    return fromBER(bytes.slice());
  } catch {
    // It throws for a time that is not written as one, and reports other faults in its result.
    throw unreadable();
  }
}

/** Reads one element that spans all of these bytes. @throws {CertificateUnusable} */
export function readDer(bytes: Uint8Array): DerElement {
  const { offset, result } = read(bytes);
  if (offset !== bytes.length || result.error !== '') throw unreadable();
  assertDer(result);
  return result;
}

/** The members of a SEQUENCE. @throws {CertificateUnusable} */
export function sequence(element: DerElement | undefined): readonly DerElement[] {
  if (!(element instanceof Sequence)) throw unreadable();
  return membersOf(element);
}

/** The members of a SET. @throws {CertificateUnusable} */
export function set(element: DerElement | undefined): readonly DerElement[] {
  if (!(element instanceof SetBlock)) throw unreadable();
  return membersOf(element);
}

/** The number of a context-specific tag; undefined for an element of another class. */
export function contextTag(element: DerElement | undefined): number | undefined {
  return element?.idBlock.tagClass === CONTEXT_CLASS ? element.idBlock.tagNumber : undefined;
}

/** The elements inside a constructed element, also an explicitly tagged one. @throws {CertificateUnusable} */
export function inside(element: DerElement): readonly DerElement[] {
  if (!element.idBlock.isConstructed) throw unreadable();
  return membersOf(element);
}

/** The content bytes of a primitive element. @throws {CertificateUnusable} */
export function content(element: DerElement | undefined): Uint8Array {
  const { valueHexView } = (element?.valueBlock ?? {}) as { valueHexView?: Uint8Array };
  if (!element || element.idBlock.isConstructed || !valueHexView) throw unreadable();
  return valueHexView;
}

/**
 * An OBJECT IDENTIFIER as `1.2.3`. Different identifiers have different texts: the parser's own text rounds arcs above
 * 2^53, and ignores padding (X.690 section 8.19.2). @throws {CertificateUnusable}
 */
export function objectIdentifier(element: DerElement | undefined): string {
  if (!(element instanceof ObjectIdentifier)) throw unreadable();
  const [first, ...rest] = element.valueBlock.value.map(({ valueHexView: groups }) => {
    if (groups.length > 1 && groups[0] === 0) throw unreadable();
    return groups.reduce((arc, group) => arc * 128n + BigInt(group), 0n);
  });
  if (first === undefined) throw unreadable();
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}

/** The bytes of an OCTET STRING. @throws {CertificateUnusable} */
export function octetString(element: DerElement | undefined): Uint8Array {
  if (!(element instanceof OctetString)) throw unreadable();
  return content(element);
}

/** The positions of the bits that are set in a BIT STRING. @throws {CertificateUnusable} */
export function setBits(element: DerElement | undefined): ReadonlySet<number> {
  if (!(element instanceof BitString)) throw unreadable();
  const bytes = content(element);
  // Readers differ in whether bits after the last one count.
  if (((bytes.at(-1) ?? 0) & ((1 << element.valueBlock.unusedBits) - 1)) !== 0) throw unreadable();
  const places = Array.from({ length: bytes.length * 8 }, (_, place) => place);
  return new Set(places.filter((place) => ((bytes[place >> 3]! >> (7 - (place & 7))) & 1) === 1));
}

/** The text of a UTCTime or GeneralizedTime. @throws {CertificateUnusable} */
export function timeText(element: DerElement | undefined): string {
  if (!(element instanceof UTCTime || element instanceof GeneralizedTime)) throw unreadable();
  return Buffer.from(content(element)).toString('latin1');
}

/** A BOOLEAN. @throws {CertificateUnusable} */
export function boolean(element: DerElement | undefined): boolean {
  if (!(element instanceof BooleanBlock)) throw unreadable();
  return element.getValue();
}

/** An INTEGER from 0 to 2^31 − 1. @throws {CertificateUnusable} */
export function smallInteger(element: DerElement | undefined): number {
  if (!(element instanceof Integer)) throw unreadable();
  const { valueDec, isHexOnly } = element.valueBlock;
  if (isHexOnly || valueDec < 0) throw unreadable();
  return valueDec;
}

/** An INTEGER of any size. @throws {CertificateUnusable} also for one in more bytes than it needs */
export function bigInteger(element: DerElement | undefined): bigint {
  if (!(element instanceof Integer)) throw unreadable();
  const bytes = content(element);
  const [first, second = 0] = bytes;
  const isPadded = bytes.length > 1 && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
  if (first === undefined || isPadded) throw unreadable();
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${toHex(bytes)}`));
}

/** Whether an element is of this kind, to tell optional members apart. */
export const isBoolean = (element: DerElement | undefined): boolean => element instanceof BooleanBlock;
export const isInteger = (element: DerElement | undefined): boolean => element instanceof Integer;
