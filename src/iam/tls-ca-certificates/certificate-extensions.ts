/** What a certificate allows itself, as far as a chain depends on it (RFC 5280 section 4.2). */
export interface CertificateLimits {
  /** How many authorities may stand below this one; undefined without a limit. */
  readonly pathLength: number | undefined;
  /** It has a critical extension that is not understood here: it must not be used (RFC 5280 section 4.2). */
  readonly unknownCritical: boolean;
}

/** Object identifiers of extensions, as hex of their content. */
const BASIC_CONSTRAINTS = '551d13';
/** Key usage, extended key usage, basic constraints, alternative names, key identifiers: looked at, or without weight here. */
const UNDERSTOOD = new Set(['551d0f', '551d25', BASIC_CONSTRAINTS, '551d11', '551d0e', '551d23']);

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const EXTENSIONS = 0xa3;

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/**
 * Reads the extensions of a certificate in DER.
 * @throws {RangeError} when it is not built as RFC 5280 has it
 */
export function certificateLimits(der: Uint8Array): CertificateLimits {
  const [certificate] = elements(der);
  const [body] = elements(contentOf(certificate));
  const extensions = elements(contentOf(body)).find(({ tag }) => tag === EXTENSIONS);
  if (!extensions) return { pathLength: undefined, unknownCritical: false };
  let pathLength: number | undefined;
  let unknownCritical = false;
  for (const extension of elements(contentOf(elements(extensions.content)[0]))) {
    const [identifier, ...rest] = elements(extension.content);
    const name = Buffer.from(contentOf(identifier)).toString('hex');
    const critical = rest[0]?.tag === BOOLEAN && rest[0].content[0] !== 0;
    if (critical && !UNDERSTOOD.has(name)) unknownCritical = true;
    if (name === BASIC_CONSTRAINTS) pathLength = pathLengthOf(contentOf(rest.at(-1)));
  }
  return { pathLength, unknownCritical };
}

function pathLengthOf(basicConstraints: Uint8Array): number | undefined {
  const length = elements(contentOf(elements(basicConstraints)[0])).find(({ tag }) => tag === INTEGER);
  return length?.content.reduce((value, byte) => value * 256 + byte, 0);
}

function contentOf(element: Element | undefined): Uint8Array {
  if (!element) throw new RangeError('the certificate ends too early');
  return element.content;
}

/** The elements that stand one after the other in DER: tag, length, content. */
function elements(der: Uint8Array): Element[] {
  const found: Element[] = [];
  let place = 0;
  while (place < der.length) {
    const tag = der[place]!;
    let length = der[place + 1] ?? Number.NaN;
    place += 2;
    if (length >= 0x80) {
      const bytes = der.subarray(place, place + length - 0x80);
      place += bytes.length;
      length = bytes.reduce((value, byte) => value * 256 + byte, 0);
    }
    const content = der.subarray(place, place + length);
    if (content.length !== length) throw new RangeError('the certificate ends too early');
    found.push({ tag, content });
    place += length;
  }
  return found;
}
