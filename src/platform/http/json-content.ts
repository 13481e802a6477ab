import { inPieces } from '../in-pieces.js';

/** More than this is sent in pieces of about this size. */
export const PIECE_BYTES = 64 * 1024;

/**
 * Returns a response body as JSON: as a text, or in pieces if it is long. The entries of its list are written one by one,
 * with other requests served in between: a page of events can have megabytes.
 */
export async function jsonContent(body: unknown): Promise<string | readonly Uint8Array[]> {
  const members = isPlainObject(body) ? Object.entries(body) : [];
  const listed = members.findIndex(([, value]) => Array.isArray(value) && value.length > 1);
  if (listed < 0) return JSON.stringify(body);
  const [name, list] = members[listed] as [string, unknown[]];
  const pieces: Uint8Array[] = [];
  let written = `{${membersText(members.slice(0, listed), ',')}${JSON.stringify(name)}:[`;
  let separator = '';
  await inPieces(list, (entry) => {
    written += `${separator}${JSON.stringify(entry) ?? 'null'}`;
    separator = ',';
    if (written.length < PIECE_BYTES) return;
    pieces.push(Buffer.from(written));
    written = '';
  });
  const rest = membersText(members.slice(listed + 1), '');
  written += `]${rest === '' ? '' : ','}${rest}}`;
  if (pieces.length === 0) return written;
  return [...pieces, Buffer.from(written)];
}

function membersText(members: readonly (readonly [string, unknown])[], end: string): string {
  const texts = members.flatMap(([name, value]) => {
    const text = JSON.stringify(value);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return texts.length === 0 ? '' : `${texts.join(',')}${end}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
