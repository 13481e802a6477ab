import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { conditionOf, rangeHolds } from '../../platform/http/conditional-request.js';
import type { Reply } from '../../platform/http/route.js';
import type { ObjectStore } from '../../platform/object-store.js';
import { byteRange } from '../byte-range.js';
import { type Blob, blobHash, blobObjectKey } from './blob.js';

const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false']))
  .optional()
  .meta({ enum: ['true', 'false'] });

/**
 * Query parameters of a download (docs/design/interface.md#existing-clients). `strict` serves only blobs that were
 * scanned and found good. `allow_insecure` also serves blobs that were found bad.
 */
export const downloadQuery = z.object({ strict: flag, allow_insecure: flag });

interface Download {
  readonly query: z.output<typeof downloadQuery>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The file name that the download suggests. */
  readonly fileName: string;
  /**
   * Read without a token: any cache may store it, any origin may read it, and a blob that was found bad is never
   * served.
   */
  readonly anonymous: boolean;
}

/**
 * Sends a blob, or the requested range of it (RFC 9110 section 14), always as a download and never for display in
 * place.
 * @throws {ApiError} bad_request for a blob that its scan result forbids
 */
export async function sendBlob(objectStore: ObjectStore, blob: Blob, download: Download): Promise<Reply> {
  requireSafe(blob, download);
  const { headers } = download;
  const etag = `"${blobHash(blob)}"`;
  const common = commonHeaders(download, etag);
  if (conditionOf({ 'if-none-match': headers['if-none-match'] }, etag) === 'unchanged')
    return { status: 304, bytes: new Uint8Array(), contentType: blob.mimeType, headers: common };
  const range = rangeHolds(headers, etag) ? byteRange(headers['range'], blob.size) : undefined;
  if (range === 'unsatisfiable') {
    const body = { error: 'bad_request', description: `range: is outside the blob, which has ${blob.size} bytes` };
    return { status: 416, body, headers: { ...common, 'content-range': `bytes */${blob.size}` } };
  }
  const content = await objectStore.open(blobObjectKey(blob), range);
  if (!content) throw new Error(`the object store has lost the bytes of ${blobObjectKey(blob)}`);
  if (!range) return { stream: { content, length: blob.size }, contentType: blob.mimeType, headers: common };
  return {
    status: 206,
    stream: { content, length: range.last - range.first + 1 },
    contentType: blob.mimeType,
    headers: { ...common, 'content-range': `bytes ${range.first}-${range.last}/${blob.size}` },
  };
}

function requireSafe(blob: Blob, { query, anonymous }: Download): void {
  const strict = query.strict === 'true';
  if (blob.scannedStatus === 'SCANNED_BAD' && (strict || anonymous || query.allow_insecure !== 'true'))
    throw new ApiError('bad_request', `The scan found bad content: ${blob.scannedBadReason}`);
  if (blob.scannedStatus === 'NOT_SCANNED' && strict)
    throw new ApiError(
      'bad_request',
      'strict: the blob has not been scanned yet. Try again later, or leave strict out.',
    );
}

function commonHeaders({ fileName, anonymous }: Download, etag: string): Record<string, string> {
  return {
    etag,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; ${dispositionName(fileName)}`,
    'x-content-type-options': 'nosniff',
    // Revalidated on every use, because a scan may have found it bad since.
    'cache-control': `${anonymous ? 'public' : 'private'}, no-cache, no-transform`,
    ...(anonymous
      ? {
          'access-control-allow-origin': '*',
          'access-control-expose-headers': 'etag, content-range, content-disposition',
        }
      : {}),
  };
}

/** `filename` in ASCII for old clients, and the full name in `filename*` where it differs (RFC 6266, RFC 8187). */
function dispositionName(name: string): string {
  // By code points: half a surrogate pair cannot be encoded.
  const base = [...name.replace(/^.*[\\/]/s, '')].slice(0, 255).join('') || 'file';
  const ascii = base.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_');
  if (ascii === base) return `filename="${base}"`;
  const encoded = encodeURIComponent(base).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
