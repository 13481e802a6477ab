import { toHex } from '../core/bytes.js';
import { type CborLimits, type CborValue, decodeCbor } from '../core/cose/cbor.js';
import { SIGN1_TAG } from '../core/cose/labels.js';
import { VerificationError } from '../core/errors.js';

const STEP = '  ';

/**
 * CBOR in diagnostic notation (RFC 8949 section 8). A byte string that is CBOR of a map or a list itself, such as a
 * protected header, is shown as `<<…>>` (RFC 8610 appendix G.3). Bytes that are no CBOR are shown in hex.
 */
export function cborText(bytes: Uint8Array): string {
  const tagged = read(bytes, { tag: SIGN1_TAG });
  if (tagged !== undefined) return `${SIGN1_TAG}(${textOf(tagged, '')})`;
  const value = read(bytes, {});
  return value === undefined ? `h'${toHex(bytes)}'` : textOf(value, '');
}

function read(bytes: Uint8Array, limits: CborLimits): CborValue | undefined {
  try {
    return decodeCbor(bytes, { ...limits, ofOthers: true });
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

function textOf(value: CborValue, indent: string): string {
  if (value instanceof Uint8Array) return bytesText(value, indent);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value))
    return block(
      '[',
      ']',
      value.map((each) => textOf(each, indent + STEP)),
      indent,
    );
  if (value instanceof Map) {
    const members = [...value].map(([key, each]) => `${textOf(key, indent)}: ${textOf(each, indent + STEP)}`);
    return block('{', '}', members, indent);
  }
  return String(value);
}

function bytesText(bytes: Uint8Array, indent: string): string {
  const inner = bytes.length > 1 ? read(bytes, {}) : undefined;
  if (inner instanceof Map || Array.isArray(inner)) return `<<${textOf(inner, indent)}>>`;
  return `h'${toHex(bytes)}'`;
}

function block(open: string, close: string, parts: readonly string[], indent: string): string {
  if (parts.length === 0) return open + close;
  return `${open}\n${parts.map((part) => indent + STEP + part).join(',\n')}\n${indent}${close}`;
}
