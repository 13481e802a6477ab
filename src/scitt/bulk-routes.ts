import type { CborMap } from '../core/cose/cbor.js';
import type { LogRef } from '../ledger/log.js';
import type { RegisteredEntry } from '../ledger/registration-store.js';
import { ApiError } from '../platform/errors.js';
import { errorBody } from '../platform/http/error-reply.js';
import type { Principal } from '../platform/http/principal.js';
import { type Reply, type Route, route } from '../platform/http/route.js';
import { inPieces } from '../platform/in-pieces.js';
import { bulkAnswer } from './bulk-answer.js';
import { preferredWaitMs } from './prefer-header.js';
import { problemDetails } from './problem-details.js';
import { registerTogether, type ScittDeps } from './register-statement.js';
import { MAX_BULK_BYTES, readStatementBulk } from './statement-bulk.js';
import { StatementRefused } from './statement-refused.js';

const ARRAY = 'application/cbor';
const SEQUENCE = 'application/cbor-seq';
const CBOR = /^application\/cbor(-seq)?\s*(;|$)/i;

/** Where statements are registered in bulk: the public statement log, or the private one. */
interface BulkDoor {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly public: boolean;
  /** The name of an entry at this door. */
  entryOf(entry: RegisteredEntry): string;
}

/** Registers many statements in the public log, each answered as `POST /entries` would have answered it. */
export function publicBulkRoute(deps: ScittDeps): Route {
  return bulkRoute(deps, {
    path: '/entries\\:bulk',
    operationId: 'Scrapi_RegisterSignedStatements',
    summary: 'Register up to 1,000 signed statements, each with its receipt or its refusal',
    public: true,
    entryOf: ({ eventId }) => eventId,
  });
}

/** The same for the private log: receipts are those of the private statement log. */
export function privateBulkRoute(deps: ScittDeps): Route {
  return bulkRoute(deps, {
    path: '/archivist/v1/scitt/entries\\:bulk',
    operationId: 'SCITT_RegisterSignedStatements',
    summary: 'Register up to 1,000 signed statements privately, each with its receipt or its refusal',
    public: false,
    entryOf: ({ assetId, eventId }) => `assets_${assetId}_events_${eventId}`,
  });
}

function bulkRoute(deps: ScittDeps, door: BulkDoor): Route {
  return route({
    method: 'POST',
    path: door.path,
    operationId: door.operationId,
    summary: door.summary,
    requestHeaders: ['prefer'],
    access: 'token',
    extension: true,
    success: 200,
    codes: [400, 401, 413, 415, 429, 503],
    rawBody: true,
    requestType: [ARRAY, SEQUENCE],
    bodyLimit: MAX_BULK_BYTES,
    weight: (_body, rawBody, headers) => {
      requireCbor(headers['content-type']);
      return readStatementBulk(rawBody).statements.length;
    },
    rawResponse: [ARRAY, SEQUENCE],
    ...(door.public ? { refusal: problemDetails() } : {}),
    handle: async ({ principal, rawBody, headers }) => {
      const { statements, sequence } = readStatementBulk(rawBody);
      const waitMs = preferredWaitMs(headers['prefer']);
      return reply(await registered(deps, door, principal, statements, waitMs), sequence);
    },
  });
}

/** A body without a content type is accepted. @throws {ApiError} unsupported_media_type */
function requireCbor(contentType: string | undefined): void {
  if (contentType === undefined || CBOR.test(contentType)) return;
  throw new ApiError('unsupported_media_type', `Content-Type: must be ${ARRAY} or ${SEQUENCE}`);
}

/** A result for each statement, in their order. */
async function registered(
  deps: ScittDeps,
  door: BulkDoor,
  principal: Principal,
  statements: readonly Uint8Array[],
  waitMs: number,
): Promise<CborMap[]> {
  const log: LogRef = door.public ? deps.publicStatementLog : deps.privateStatementLog;
  const followed = deps.receipts.follow(log);
  const outcomes = await registerTogether(deps, principal, { statements, public: door.public });
  const until = performance.now() + waitMs;
  const answer = async (outcome: RegisteredEntry | ApiError): Promise<CborMap> => {
    if (outcome instanceof ApiError) return refused(outcome);
    const left = until - performance.now();
    const { eventId, repeated } = outcome;
    const receipt =
      waitMs === 0
        ? undefined
        : await (repeated ? deps.receipts.receipt(log, eventId, left) : followed.receipt(eventId, left));
    return accepted(door.entryOf(outcome), receipt);
  };
  // If the batch is sealed already, each receipt is made here.
  const answers = await inPieces(outcomes, (outcome) => {
    const answering = answer(outcome);
    // It can fail while the next ones are requested; the failure is thrown below.
    answering.catch(() => undefined);
    return answering;
  });
  return Promise.all(answers);
}

/** 201 with the receipt, or 303 while the log is not sealed: the receipt is then under the entry's own path. */
function accepted(entry: string, receipt: Uint8Array | undefined): CborMap {
  const named: CborMap = new Map<string, string | number>([
    ['status', receipt ? 201 : 303],
    ['entry', entry],
  ]);
  return receipt ? named.set('receipt', receipt) : named;
}

function refused(refusal: ApiError): CborMap {
  const { error, description } = errorBody(refusal);
  return new Map<string, string | number>([
    ['status', refusal.status],
    ['error', error],
    ...(refusal instanceof StatementRefused ? [['title', refusal.title] as const] : []),
    ['description', description],
  ]);
}

async function reply(results: readonly CborMap[], sequence: boolean): Promise<Reply> {
  return { bytes: await bulkAnswer(results, sequence), contentType: sequence ? SEQUENCE : ARRAY };
}
