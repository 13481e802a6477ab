import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { blobResponse, blobSchema } from './blob.js';
import type { BlobDeps } from './blob-deps.js';
import { readOwnBlob } from './read-blob.js';
import { downloadQuery, sendBlob } from './send-blob.js';
import { FILE_FIELD, uploadBlob, uploadQuery } from './upload-blob.js';

const byUuid = z.object({ uuid: uuidSchema });

/** Blobs (docs/design/interface.md#attachments-and-blobs). */
export function blobRoutes(deps: BlobDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/archivist/v1/blobs',
      operationId: 'Blobs_Upload',
      summary: 'Upload a file as a blob',
      requestHeaders: ['idempotency-key'],
      access: 'token',
      success: 200,
      codes: [400, 401, 402, 403, 422, 429, 500],
      formFile: FILE_FIELD,
      query: uploadQuery,
      response: blobSchema,
      handle: async ({ principal, request, query, headers }) => {
        // The length says that the client knew what it was going to send.
        const mayBeEmpty = query.allow_empty === 'true' && headers['content-length'] !== undefined;
        const idempotencyKey = headers['idempotency-key'];
        return { body: await uploadBlob(deps, { principal, request, idempotencyKey, mayBeEmpty }) };
      },
    }),
    route({
      method: 'GET',
      path: '/archivist/v1/blobs/:uuid',
      operationId: 'Blobs_Download',
      summary: 'Download a blob, or a range of its bytes',
      access: 'token',
      success: 200,
      codes: [206, 304, 400, 401, 403, 404, 416, 429, 500],
      params: byUuid,
      wrongId: 'bad_request',
      query: downloadQuery,
      rawResponse: '*/*',
      answerHeaders: { 200: ['content-disposition'], 206: ['content-disposition'] },
      handle: async ({ principal, params, query, headers }) => {
        const blob = await readOwnBlob(deps, principal, params.uuid);
        return sendBlob(deps.objectStore, blob, { query, headers, fileName: params.uuid, anonymous: false });
      },
    }),
    route({
      method: 'GET',
      path: '/archivist/v1/blobs/:uuid/info',
      operationId: 'Blobs_Info',
      summary: 'Read the metadata of a blob',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429, 500],
      params: byUuid,
      wrongId: 'bad_request',
      response: blobSchema,
      handle: async ({ principal, params }) => ({
        body: blobResponse(await readOwnBlob(deps, principal, params.uuid)),
      }),
    }),
  ];
}
