import { z } from 'zod';
import { parseLogInPath } from '../ledger/log-generations.js';
import { ApiError, type ErrorCode } from '../platform/errors.js';
import { conditionOf, rangeHolds } from '../platform/http/conditional-request.js';
import { errorBody } from '../platform/http/error-reply.js';
import type { Principal } from '../platform/http/principal.js';
import { type Refusal, type Reply, type Route, route } from '../platform/http/route.js';
import type { Database } from '../platform/postgres/database.js';
import { uuidSchema } from '../platform/uuid-schema.js';
import { byteRange } from './byte-range.js';
import type { LogFile, LogFileKind, LogFileReaders } from './log-files.js';
import { searchLogTags } from './log-tag-search.js';

const BASE = '/verifiabledata/merklelogs/v1/mmrs/tenant/:uuid/0';
/** Of a download in the caller's budget, also of one that finds nothing, or nothing new. */
const LEAST_COST = 4 * 1024;
const ANYWHERE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'accept-ranges, content-range, etag, x-ms-error-code',
};
type Access = 'public' | 'token';
/** Azure's names of errors: the stock verifier's client reads these, not our error bodies. */
const AZURE_CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  bad_request: 'InvalidQueryParameterValue',
  unauthorized: 'NoAuthenticationInformation',
  forbidden: 'AuthorizationFailure',
  not_found: 'BlobNotFound',
  method_not_allowed: 'UnsupportedHttpVerb',
  rate_limited: 'ServerBusy',
  unavailable: 'ServerBusy',
  internal: 'InternalError',
};

/** What serving log files depends on. */
interface LogFileDeps extends LogFileReaders {
  readonly database: Database;
  readonly publicUrl: string;
  /** If unset, everybody may read them. If set, a caller may read only its own log and this public one. */
  readonly onlyMembersAnd?: string | undefined;
}

/**
 * Massif and seal files for verifiers (docs/design/interface.md#existing-clients): whole or by range, with an ETag.
 * Also the search by tags that watchers poll.
 */
export function logFileRoutes(deps: LogFileDeps): Route[] {
  return [
    tagSearchRoute(deps),
    logFileRoute(deps, 'massif', `${BASE}/massifs/:file`, /^(\d{16})\.log$/),
    logFileRoute(deps, 'seal', `${BASE}/massifseals/:file`, /^(\d{16})\.sth$/),
    forksRoute(deps),
  ];
}

/** Massifs reveal how many events there are, and when: a deployment may restrict them to its members. */
function visibleTo({ onlyMembersAnd }: LogFileDeps, principal: Principal | undefined): (tenantId: string) => boolean {
  return (tenantId) => onlyMembersAnd === undefined || tenantId === onlyMembersAnd || tenantId === principal?.tenantId;
}

function accessOf({ onlyMembersAnd }: LogFileDeps): Access {
  return onlyMembersAnd === undefined ? 'public' : 'token';
}

/** A shared cache gives a `public` answer to anybody, also one to a token (RFC 9111 section 3.5). */
function headersFor(access: Access, caching: string): Readonly<Record<string, string>> {
  return access === 'public'
    ? { ...ANYWHERE, 'cache-control': `public, ${caching}` }
    : { 'cache-control': `private, ${caching}` };
}

function tagSearchRoute(deps: LogFileDeps): Route {
  const access = accessOf(deps);
  return route({
    method: 'GET',
    path: '/verifiabledata',
    operationId: 'VerifiableData_FindBlobsByTags',
    summary: 'Find the newest massif or seal of each log by blob tags',
    access,
    extension: true,
    success: 200,
    codes: [400],
    query: z.looseObject({
      comp: z.literal('blobs'),
      where: z.string().max(1024),
      marker: z.string().max(64).optional(),
    }),
    rawResponse: 'application/xml',
    refusal: refusalsFor(access),
    handle: async ({ query, principal }) => ({
      bytes: Buffer.from(await searchLogTags(deps, query, visibleTo(deps, principal))),
      contentType: 'application/xml',
      headers: headersFor(access, 'no-cache'),
    }),
  });
}

function logFileRoute(deps: LogFileDeps, kind: LogFileKind, path: string, fileName: RegExp): Route {
  const access = accessOf(deps);
  return route({
    method: 'GET',
    path,
    operationId: kind === 'massif' ? 'VerifiableData_GetMassif' : 'VerifiableData_GetSeal',
    summary: kind === 'massif' ? 'Download a massif file of a tenancy log' : 'Download the newest seal of a massif',
    access,
    extension: true,
    success: 200,
    codes: [206, 304, 404, 412, 416, 429],
    leastCost: LEAST_COST,
    params: z.object({ uuid: z.string(), file: z.string() }),
    query: z.looseObject({}),
    rawResponse: 'application/octet-stream',
    refusal: refusalsFor(access),
    handle: async ({ params, headers, principal }) => {
      const log = parseLogInPath(params.uuid);
      const massif = fileName.exec(params.file)?.[1];
      if (!log || massif === undefined || Number(massif) > 0xffffffff) return blobNotFound();
      if (!visibleTo(deps, principal)(log.uuid)) return blobNotFound();
      const file = await deps.find(log.uuid, kind, Number(massif), log.generation);
      return file ? fileReply(file, access, headers) : blobNotFound();
    },
  });
}

function forksRoute(deps: LogFileDeps): Route {
  const access = accessOf(deps);
  return route({
    method: 'GET',
    path: `${BASE}/forks`,
    operationId: 'VerifiableData_GetForks',
    summary: 'Get the statements that begin the openly forked generations of a tenancy log',
    access,
    extension: true,
    success: 200,
    codes: [404],
    params: z.object({ uuid: z.string() }),
    rawResponse: 'application/cbor',
    refusal: refusalsFor(access),
    handle: async ({ params, principal }) => {
      const tenantId = uuidSchema.safeParse(params.uuid);
      if (!tenantId.success || !visibleTo(deps, principal)(tenantId.data)) return blobNotFound();
      const bytes = await deps.findForks(tenantId.data);
      if (!bytes) return blobNotFound();
      return { bytes, contentType: 'application/cbor', headers: headersFor(access, 'no-cache') };
    },
  });
}

function fileReply(file: LogFile, access: Access, headers: Readonly<Record<string, string | undefined>>): Reply {
  const common = {
    ...headersFor(access, file.immutable ? 'max-age=31536000, immutable' : 'no-cache, no-transform'),
    etag: file.etag,
    'last-modified': new Date(file.modifiedAtMs).toUTCString(),
    'accept-ranges': 'bytes',
  };
  const contentType = 'application/octet-stream';
  const empty = { bytes: new Uint8Array(), contentType };
  const condition = conditionOf(headers, file.etag, file.modifiedAtMs);
  if (condition === 'unchanged') return { ...empty, status: 304, headers: common };
  // A client that reads a growing file in pieces must not get parts of two different states.
  if (condition === 'changed')
    return { ...empty, status: 412, headers: { ...common, 'x-ms-error-code': 'ConditionNotMet' } };
  // Azure's order: a library may set Range beside the range that its caller asks for.
  const wanted = rangeHolds(headers, file.etag) ? (headers['x-ms-range'] ?? headers['range']) : undefined;
  const range = byteRange(wanted, file.bytes.length);
  if (range === 'unsatisfiable') {
    const why = { 'content-range': `bytes */${file.bytes.length}`, 'x-ms-error-code': 'InvalidRange' };
    return { ...empty, status: 416, headers: { ...common, ...why } };
  }
  if (!range) return { bytes: file.bytes, contentType, headers: common };
  const contentRange = { 'content-range': `bytes ${range.first}-${range.last}/${file.bytes.length}` };
  const bytes = file.bytes.subarray(range.first, range.last + 1);
  return { status: 206, bytes, contentType, headers: { ...common, ...contentRange } };
}

/** Azure's form of this error: the stock verifier stops its scan at this header. */
function blobNotFound(): never {
  throw new ApiError('not_found', 'There is no such log file.');
}

function refusalsFor(access: Access): Refusal {
  return {
    tell: (error) => {
      const code = AZURE_CODES[error.code];
      return {
        body: errorBody(error),
        headers: {
          ...(access === 'public' ? ANYWHERE : {}),
          ...(code === undefined ? {} : { 'x-ms-error-code': code }),
        },
      };
    },
  };
}
