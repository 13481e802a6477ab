import { z } from 'zod';
import { toHex } from '../core/bytes.js';
import { findPolicy, findRegistration } from '../ledger/registration-store.js';
import { statementBytes } from '../ledger/statement-store.js';
import { ApiError } from '../platform/errors.js';
import type { Principal } from '../platform/http/principal.js';
import { type Reply, type Route, route } from '../platform/http/route.js';
import { taggedReply } from '../platform/http/tagged-reply.js';
import type { Tx } from '../platform/postgres/database.js';
import { timestampOf, timestampSchema } from '../platform/timestamps.js';
import { publicBulkRoute } from './bulk-routes.js';
import { STATEMENT_LIMITS } from './examine-statement.js';
import { createHeldReceipts, type HeldReceipts } from './held-receipts.js';
import { preferredWaitMs } from './prefer-header.js';
import { problemDetails } from './problem-details.js';
import { ANYWHERE, FOREVER } from './published-headers.js';
import { registerStatement, type ScittDeps } from './register-statement.js';
import type { RegistrationTurn } from './registration-turns.js';
import { StatementRefused } from './statement-refused.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const COSE = /^application\/(scitt-statement\+)?cose\s*(;|$)/i;
/** Content types of a statement; the second is registered by the SCITT architecture. */
export const STATEMENT_TYPES = ['application/cose', 'application/scitt-statement+cose'] as const;
/** Checked where it is used, because SCRAPI has a refusal of its own for it. */
const ENTRY = z.object({ id: z.string().meta({ pattern: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' }) });
/** A receipt is another one after its key was revoked. */
const LASTING = { ...ANYWHERE, 'cache-control': 'public, max-age=3600' };
const RETRY_SECONDS = '1';

/**
 * Registration by SCRAPI (draft-ietf-scitt-scrapi-10, 2.3 and 2.4; draft 11 has 202 and 204 in place of 303 and 302,
 * which clients follow to the receipt by themselves). A caller with a token registers statements in the public statement
 * log; receipts and statements are public, like the log itself.
 */
export function entryRoutes(deps: ScittDeps): Route[] {
  const held = createHeldReceipts(deps);
  return [
    registerRoute(deps, held),
    publicBulkRoute(deps),
    receiptRoute(deps, held),
    statementRoute(deps),
    policyRoute(deps),
  ];
}

function registerRoute(deps: ScittDeps, held: HeldReceipts): Route {
  return route({
    method: 'POST',
    path: '/entries',
    operationId: 'Scrapi_RegisterSignedStatement',
    summary: 'Register a signed statement; returns its receipt if it is sealed in time',
    requestHeaders: ['prefer'],
    access: 'token',
    extension: true,
    success: 201,
    codes: [303, 400, 401, 402, 403, 413, 415, 429],
    rawBody: true,
    requestType: STATEMENT_TYPES,
    answerHeaders: { 201: ['location'], 303: ['location', 'retry-after'] },
    bodyLimit: STATEMENT_LIMITS.maxBytes,
    rawResponse: 'application/cose',
    refusal: problemDetails(),
    handle: async ({ principal, rawBody, headers }) => {
      requireCose(headers['content-type']);
      const waitMs = preferredWaitMs(headers['prefer']);
      const turn = waitMs > 0 ? deps.turns.begin() : undefined;
      try {
        return await registered(deps, held, principal, { submitted: rawBody, waitMs, turn });
      } finally {
        turn?.end();
      }
    },
  });
}

interface ToRegister {
  readonly submitted: Uint8Array;
  readonly waitMs: number;
  /** Of a caller that waits. */
  readonly turn: RegistrationTurn | undefined;
}

async function registered(
  deps: ScittDeps,
  held: HeldReceipts,
  principal: Principal,
  { submitted, waitMs, turn }: ToRegister,
): Promise<Reply> {
  const log = deps.publicStatementLog;
  const followed = deps.receipts.follow(log);
  const { eventId, repeated } = await registerStatement(deps, principal, { submitted, public: true, turn });
  const wait = () => (repeated ? deps.receipts.receipt(log, eventId, waitMs) : followed.receipt(eventId, waitMs));
  const receipt = waitMs === 0 ? undefined : await wait();
  if (receipt) return { status: 201, ...cose(receipt, at(deps, eventId)) };
  if (!repeated) held.begun(eventId, followed);
  return running(deps, eventId, 303);
}

/**
 * A body without a content type is accepted, but curl's default type is not. @throws {ApiError} unsupported_media_type
 */
export function requireCose(contentType: string | undefined): void {
  if (contentType === undefined || COSE.test(contentType)) return;
  throw new ApiError('unsupported_media_type', `Content-Type: must be ${STATEMENT_TYPES.join(' or ')}`);
}

function receiptRoute(deps: ScittDeps, held: HeldReceipts): Route {
  return route({
    ...reading,
    path: '/entries/:id',
    operationId: 'Scrapi_QueryRegistrationStatus',
    summary: 'Get the receipt of an entry after its registration has finished',
    codes: [302, 304, 400, 404],
    answerHeaders: { 200: ['location'], 302: ['location', 'retry-after'] },
    refusal: problemDetails('Operation Not Found'),
    handle: async ({ params, headers }) => {
      const eventId = entryId(params.id);
      const receipt = await held.receipt(eventId);
      if (!receipt) return running(deps, eventId, 302);
      return taggedReply(cose(receipt, { ...at(deps, eventId), ...LASTING }), headers);
    },
  });
}

function statementRoute(deps: ScittDeps): Route {
  return route({
    ...reading,
    path: '/entries/:id/statement',
    operationId: 'Scrapi_RetrieveSignedStatement',
    summary: 'Get the statement of an entry, byte for byte as registered',
    codes: [304, 400, 404],
    refusal: problemDetails(),
    handle: ({ params, headers }) =>
      inPublic(deps, params.id, async (tx, eventId) => {
        const { publicTenancy: tenantId } = deps;
        const registration = await findRegistration(tx, { tenantId, eventId });
        const bytes = registration?.submitted ?? (await statementBytes(tx, tenantId, eventId));
        if (!bytes) throw noSuchEntry();
        return taggedReply(cose(bytes, FOREVER), headers);
      }),
  });
}

function policyRoute(deps: ScittDeps): Route {
  return route({
    method: 'GET',
    access: 'public',
    extension: true,
    success: 200,
    params: ENTRY,
    path: '/entries/:id/registration-policy',
    operationId: 'Scrapi_RetrieveRegistrationPolicy',
    summary: 'Get the policy that an entry was registered under, and how its signing key was found',
    codes: [400, 404],
    response: z.strictObject({
      policy: z.record(z.string(), z.unknown()),
      policy_sha256: z.string(),
      key_resolution: z.record(z.string(), z.string()),
      timestamp_registered: timestampSchema,
    }),
    refusal: problemDetails(),
    handle: ({ params }) =>
      inPublic(deps, params.id, async (tx, eventId) => {
        const { publicTenancy: tenantId } = deps;
        const registration = await findRegistration(tx, { tenantId, eventId });
        const text = registration && (await findPolicy(tx, tenantId, registration.policyDigest));
        if (!registration || text === undefined) throw noSuchEntry();
        const body = {
          policy: JSON.parse(text),
          policy_sha256: toHex(registration.policyDigest),
          key_resolution: publicResolution(registration.keyResolution),
          timestamp_registered: timestampOf(registration.registeredAt.getTime()),
        };
        return { body, headers: FOREVER };
      }),
  });
}

const reading = {
  method: 'GET',
  access: 'public',
  extension: true,
  success: 200,
  params: ENTRY,
  rawResponse: 'application/cose',
} as const;

/** How a key was found, without the tenancy's internal id of the trust anchor. */
function publicResolution({ method, thumbprint }: Readonly<Record<string, string>>) {
  return { method, thumbprint };
}

/** @throws {StatementRefused} */
function entryId(id: string): string {
  const eventId = id.toLowerCase();
  if (!UUID.test(eventId)) throw new StatementRefused('Invalid locator', 'The id of an entry is a UUID.');
  return eventId;
}

async function inPublic<Result>(
  deps: ScittDeps,
  id: string,
  work: (tx: Tx, eventId: string) => Promise<Result>,
): Promise<Result> {
  const eventId = entryId(id);
  return deps.database.inTransaction({ read: [deps.publicTenancy], write: [] }, (tx) => work(tx, eventId));
}

const at = (deps: ScittDeps, eventId: string) => ({ location: `${deps.publicUrl}/entries/${eventId}` });

function running(deps: ScittDeps, eventId: string, status: 302 | 303): Reply {
  const headers = { ...at(deps, eventId), ...ANYWHERE, 'retry-after': RETRY_SECONDS };
  return { status, bytes: new Uint8Array(), contentType: 'application/cose', headers };
}

function cose(bytes: Uint8Array, headers: Readonly<Record<string, string>>): Reply & { readonly bytes: Uint8Array } {
  return { bytes, contentType: 'application/cose', headers };
}

function noSuchEntry(): ApiError {
  return new ApiError('not_found', 'There is no such entry.');
}
