import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { permits } from '../../iam/access/permits.js';
import { ApiError } from '../../platform/errors.js';
import { type FormFile, readFormFile } from '../../platform/http/form-file.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Blob, blobObjectKey, blobResponse } from './blob.js';
import type { BlobDeps } from './blob-deps.js';
import { insertBlob } from './blob-store.js';
import { LOOKED_AT, mediaType } from './media-type.js';

/** The field of the form that holds the file (interface: Blobs). */
export const FILE_FIELD = 'file';

/**
 * Stores the file of a form and what is known of it. The bytes are durable before the row: a crash between leaves an
 * object that nothing names.
 */
export async function uploadBlob(
  deps: BlobDeps,
  principal: Principal,
  request: IncomingMessage,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  if (!permits(principal, 'create', { kind: 'blobs', tenantId }))
    throw new ApiError('forbidden', 'This identity may not upload.');
  const expected = { field: FILE_FIELD, limit: deps.blobLimit };
  const address = { tenantId, blobId: deps.ids.uuid() };
  const stored = await readFormFile(request, expected, (file) => storeFile(deps, address, file));
  const blob: Blob = {
    ...address,
    ...stored,
    creatorIssuer: principal.issuer,
    creatorSubject: principal.subject,
    acceptedAt: new Date(deps.clock.now()),
    scannedStatus: 'NOT_SCANNED',
    scannedAt: undefined,
    scannedBadReason: '',
  };
  await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) => insertBlob(tx, blob));
  return blobResponse(blob);
}

async function storeFile(deps: BlobDeps, address: { tenantId: string; blobId: string }, file: FormFile) {
  const key = blobObjectKey(address);
  const digest = createHash('sha256');
  const { size } = await deps.objectStore.putStream(
    key,
    hashed(file.content, (chunk) => digest.update(chunk)),
  );
  const beginning = async (): Promise<Readable> => {
    const range = { first: 0, last: Math.min(size, LOOKED_AT) - 1 };
    return (await deps.objectStore.open(key, range))!;
  };
  const mimeType = await mediaType(file.declaredType, beginning);
  return { size, sha256: new Uint8Array(digest.digest()), mimeType };
}

/** An empty file is what a client sends that repeats an upload from a file already read to its end (client contract 1.1.1). */
async function* hashed(
  content: AsyncIterable<Uint8Array>,
  update: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let empty = true;
  for await (const chunk of content) {
    empty &&= chunk.length === 0;
    update(chunk);
    yield chunk;
  }
  if (empty) throw new ApiError('bad_request', `${FILE_FIELD}: must not be empty`);
}
