import { createHash, createHmac } from 'node:crypto';
import { looksPersonal } from './looks-personal.js';
import type { Operation } from './operation.js';

/** A label is recorded unchanged, percent-encoded, up to this length. */
const MAX_LABEL_BYTES = 128;
/** Characters that are never percent-encoded (RFC 3986 section 2.3). */
const UNRESERVED = /^[A-Za-z0-9_.~-]$/;

function percentEncoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => String.fromCharCode(byte))
    .map((char) =>
      UNRESERVED.test(char) ? char : `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}

/**
 * A label as it is recorded: percent-encoded (RFC 3986 section 2.1); `sha256:<hex>` if that is longer than 128 bytes;
 * `hmac-sha256:<hex>` if it looks like a telephone number or an e-mail address, because an unkeyed hash of those could
 * be reversed by trying all of them.
 */
export function recordedLabel(label: string, secret: string): string {
  if (looksPersonal(label)) return `hmac-sha256:${createHmac('sha256', secret).update(label).digest('hex')}`;
  const encoded = percentEncoded(label);
  return encoded.length <= MAX_LABEL_BYTES ? encoded : `sha256:${createHash('sha256').update(label).digest('hex')}`;
}

/** The operation with its chain, link and type as they are recorded. @param secret of its tenancy */
export function withRecordedLabels(operation: Operation, secret: string): Operation {
  const labels = (['chain', 'link', 'linkType'] as const).flatMap((name) => {
    const label = operation[name];
    return label === undefined ? [] : [[name, recordedLabel(label, secret)] as const];
  });
  return { ...operation, ...Object.fromEntries(labels) };
}
