import { z } from 'zod';
import { type Reply, type Route, route } from '../platform/http/route.js';
import { uuidSchema } from '../platform/uuid-schema.js';
import { byteRange } from './byte-range.js';
import type { FindLogFile, LogFile, LogFileKind } from './log-files.js';

const BASE = '/verifiabledata/merklelogs/v1/mmrs/tenant/:uuid/0';
const ANYWHERE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, content-range, x-ms-error-code',
};

/** Massif and seal files as verifiers fetch them (client contract 1.5): whole or by range, with an ETag. */
export function logFileRoutes(find: FindLogFile): Route[] {
  return [
    logFileRoute(find, 'massif', `${BASE}/massifs/:file`, /^(\d{16})\.log$/),
    logFileRoute(find, 'seal', `${BASE}/massifseals/:file`, /^(\d{16})\.sth$/),
  ];
}

function logFileRoute(find: FindLogFile, kind: LogFileKind, path: string, fileName: RegExp): Route {
  return route({
    method: 'GET',
    path,
    operationId: kind === 'massif' ? 'VerifiableData_GetMassif' : 'VerifiableData_GetSeal',
    summary: kind === 'massif' ? 'A massif file of a tenancy log' : 'The newest seal of a massif',
    access: 'public',
    extension: true,
    success: 200,
    codes: [206, 304, 404, 416],
    params: z.object({ uuid: z.string(), file: z.string() }),
    query: z.looseObject({}),
    rawResponse: 'application/octet-stream',
    handle: async ({ params, headers }) => {
      const tenantId = uuidSchema.safeParse(params.uuid);
      const massif = fileName.exec(params.file)?.[1];
      if (!tenantId.success || massif === undefined || Number(massif) > 0xffffffff) return blobNotFound();
      const file = await find(tenantId.data, kind, Number(massif));
      return file ? fileReply(file, headers) : blobNotFound();
    },
  });
}

function fileReply(file: LogFile, headers: Readonly<Record<string, string | undefined>>): Reply {
  const common = {
    ...ANYWHERE,
    etag: file.etag,
    'accept-ranges': 'bytes',
    'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'public, no-cache, no-transform',
  };
  const contentType = 'application/octet-stream';
  if (headers['if-none-match'] === file.etag) {
    return { status: 304, bytes: new Uint8Array(), contentType, headers: common };
  }
  const range = byteRange(headers['range'] ?? headers['x-ms-range'], file.bytes.length);
  if (range === 'unsatisfiable') {
    const contentRange = { 'content-range': `bytes */${file.bytes.length}` };
    return { status: 416, bytes: new Uint8Array(), contentType, headers: { ...common, ...contentRange } };
  }
  if (!range) return { bytes: file.bytes, contentType, headers: common };
  const contentRange = { 'content-range': `bytes ${range.first}-${range.last}/${file.bytes.length}` };
  const bytes = file.bytes.subarray(range.first, range.last + 1);
  return { status: 206, bytes, contentType, headers: { ...common, ...contentRange } };
}

/** Azure's way to say so: the stock verifier stops its scan at this header. */
function blobNotFound(): Reply {
  return {
    status: 404,
    body: { error: 'not_found', description: 'There is no such log file.' },
    headers: { ...ANYWHERE, 'x-ms-error-code': 'BlobNotFound' },
  };
}
