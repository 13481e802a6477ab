/** Bytes that are not DER as far as they are read here. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/** One element of DER: its tag byte and its content. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** Tag bytes (X.690). */
export const DerTag = { boolean: 0x01, bitString: 0x03, octetString: 0x04, oid: 0x06, sequence: 0x30 } as const;

/** The elements that stand one after the other in these bytes, at most 1,000. @throws {DerError} */
export function derElements(bytes: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    if (elements.length === 1_000) throw new DerError('too many elements');
    const { element, end } = elementAt(bytes, offset);
    elements.push(element);
    offset = end;
  }
  return elements;
}

/** The elements inside one of the given tag. @throws {DerError} */
export function derMembers(element: DerElement | undefined, tag: number): DerElement[] {
  if (element?.tag !== tag) throw new DerError('another element is expected');
  return derElements(element.content);
}

function elementAt(bytes: Uint8Array, offset: number): { element: DerElement; end: number } {
  const tag = bytes[offset]!;
  const first = bytes[offset + 1];
  if ((tag & 0x1f) === 0x1f || first === undefined || first === 0x80) throw new DerError('not DER');
  const width = first < 0x80 ? 0 : first & 0x7f;
  if (width > 3 || offset + 2 + width > bytes.length) throw new DerError('not DER');
  let length = first;
  if (width > 0) length = bytes.subarray(offset + 2, offset + 2 + width).reduce((sum, byte) => sum * 256 + byte, 0);
  const start = offset + 2 + width;
  if (start + length > bytes.length) throw new DerError('cut short');
  return { element: { tag, content: bytes.subarray(start, start + length) }, end: start + length };
}
