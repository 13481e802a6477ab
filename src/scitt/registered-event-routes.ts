import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { type CborMap, encodeCbor } from '../core/cose/cbor.js';
import { permits } from '../iam/access/permits.js';
import { tenancyLog } from '../ledger/log.js';
import { countedKeys } from '../ledger/log-keys.js';
import { mmrReceipt, statementReceipt } from '../ledger/receipts.js';
import { isRegistrant } from '../ledger/registrant-store.js';
import { findRegistration, type RegisteredEntry, type Registration } from '../ledger/registration-store.js';
import { ApiError } from '../platform/errors.js';
import type { Principal } from '../platform/http/principal.js';
import { type Reply, type Route, route } from '../platform/http/route.js';
import type { Tx } from '../platform/postgres/database.js';
import { asksForJson } from './asks-for-json.js';
import { privateBulkRoute } from './bulk-routes.js';
import { registerStatement, type ScittDeps } from './register-statement.js';
import { isJsonObject, STATEMENT, SUBMISSION_LIMIT, submittedStatement } from './submitted-statement.js';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const OPERATION_ID = new RegExp(`^event_(${UUID})$`);
const ENTRY_ID = new RegExp(`^(?:public)?assets_(${UUID})_events_(${UUID})$`);
/** Stock clients poll at once and then every ten seconds, three times in all: the first answer should be final. */
const SUCCEEDS_WITHIN_MS = 3_000;

/** The two variants of the interface: into the public logs, or into the caller's own. */
interface Door {
  readonly path: string;
  readonly name: string;
  readonly public: boolean;
}

/**
 * Registration as stock clients use it (docs/design/interface.md#existing-clients): a registered statement becomes an
 * event, public or private. Its receipt is that of its tenancy log, in the map form. Responses are CBOR maps, and JSON for
 * a client that asks for nothing else or sends JSON.
 */
export function publicScittRoutes(deps: ScittDeps): Route[] {
  return doorRoutes(deps, { path: '/archivist/v1/publicscitt', name: 'PublicSCITT', public: true });
}

/** The same for events that only the tenancy can read. */
export function privateScittRoutes(deps: ScittDeps): Route[] {
  return [...doorRoutes(deps, { path: '/archivist/v1/scitt', name: 'SCITT', public: false }), privateBulkRoute(deps)];
}

const shared = { access: 'token', success: 200 } as const;

/** An operation in a response, under the names of its JSON form. */
const operationSchema = z.strictObject({
  operationID: z.string(),
  status: z.enum(['running', 'succeeded']),
  entryID: z.string().optional(),
});
type Operation = z.output<typeof operationSchema>;

const ANSWERS_OPERATION = { rawResponse: ['application/cbor', 'application/json'], response: operationSchema } as const;

function doorRoutes(deps: ScittDeps, door: Door): Route[] {
  return [
    route({
      ...shared,
      ...ANSWERS_OPERATION,
      method: 'POST',
      path: `${door.path}/entries`,
      operationId: `${door.name}_RegisterSignedStatement`,
      summary: 'Register a signed statement; returns an operation to poll',
      codes: [400, 401, 402, 403, 413, 429],
      rawBody: true,
      carriedAs: STATEMENT,
      bodyLimit: SUBMISSION_LIMIT,
      handle: async ({ principal, rawBody, headers }) => {
        const submitted = await submittedStatement(rawBody, headers);
        const entry = await registerStatement(deps, principal, { submitted, public: door.public });
        const readsJson = isJsonObject(rawBody) || speaksJson(headers);
        return operationReply({ operationID: operationId(entry), status: 'running' }, readsJson);
      },
    }),
    operationRoute(deps, door),
    entryRoute(deps, door, '', 'RetrieveSignedStatement', 'Get a registered statement, byte for byte'),
    entryRoute(deps, door, '/receipt', 'RetrieveRegistrationReceipt', 'Get the receipt of a registered statement'),
  ];
}

function operationRoute(deps: ScittDeps, door: Door): Route {
  return route({
    ...shared,
    ...ANSWERS_OPERATION,
    method: 'GET',
    path: `${door.path}/operations/:operationID`,
    operationId: `${door.name}_RetrieveOperationStatus`,
    summary: 'Poll a registration; waits briefly for it to finish',
    codes: [202, 400, 401, 403, 404, 429],
    params: z.object({ operationID: z.string() }),
    handle: async ({ principal, params, headers }) => {
      const eventId = OPERATION_ID.exec(params.operationID.toLowerCase())?.[1];
      if (eventId === undefined) throw new ApiError('not_found', 'operationID: must be event_<uuid>');
      const registration = await readIn(deps, principal, (tx) =>
        requireRegistration(deps, tx, principal, door, eventId),
      );
      const done = await settled(deps, principal, registration);
      const operationID = operationId(registration);
      const readsJson = speaksJson(headers);
      if (!done) return { ...operationReply({ operationID, status: 'running' }, readsJson), ...STILL_RUNNING };
      const entryID = `assets_${registration.assetId}_events_${eventId}`;
      return operationReply({ operationID, status: 'succeeded', entryID }, readsJson);
    },
  });
}

function entryRoute(deps: ScittDeps, door: Door, part: '' | '/receipt', name: string, summary: string): Route {
  return route({
    ...shared,
    rawResponse: 'application/cbor',
    method: 'GET',
    path: `${door.path}/entries/:entryID${part}`,
    operationId: `${door.name}_${name}`,
    summary,
    codes: [400, 401, 403, 404, 429],
    params: z.object({ entryID: z.string() }),
    handle: ({ principal, params }) =>
      readIn(deps, principal, async (tx) => {
        const registration = await requireEntry(deps, tx, principal, door, params.entryID);
        const log = tenancyLog(registration.tenantId);
        const keys = countedKeys(deps.keyring);
        const bytes =
          part === '' ? registration.submitted : await mmrReceipt(tx, log, registration.eventId, 'map', keys);
        if (bytes) return { bytes, contentType: 'application/cbor' };
        const headers = { 'retry-after': '1' };
        throw new ApiError('not_ready', 'The receipt is not ready yet: the log is not sealed. Try again.', headers);
      }),
  });
}

async function requireEntry(
  deps: ScittDeps,
  tx: Tx,
  principal: Principal,
  door: Door,
  entryId: string,
): Promise<Registration> {
  const [, assetId, eventId] = ENTRY_ID.exec(entryId.toLowerCase()) ?? [];
  if (eventId === undefined) throw new ApiError('not_found', 'entryID: must be assets_<uuid>_events_<uuid>');
  const registration = await requireRegistration(deps, tx, principal, door, eventId);
  if (registration.assetId !== assetId) throw noSuchEntry();
  return registration;
}

/**
 * Returns a registration that this principal may read: any public one, one whose statement it brought, be it as the first
 * or later, or as an Owner any of the tenancy.
 */
async function requireRegistration(
  deps: ScittDeps,
  tx: Tx,
  principal: Principal,
  door: Door,
  eventId: string,
): Promise<Registration> {
  const tenantId = door.public ? deps.publicTenancy : principal.tenantId;
  const registration = await findRegistration(tx, { tenantId, eventId });
  if (!registration) throw noSuchEntry();
  if (door.public) return registration;
  const { creatorIssuer, creatorSubject } = registration;
  const { issuer, subject } = principal;
  const isBroughtAgain = await isRegistrant(tx, { tenantId, eventId, issuer, subject });
  const resource = { kind: 'registration', tenantId, creatorIssuer, creatorSubject, isBroughtAgain } as const;
  if (!permits(principal, 'read', resource)) throw noSuchEntry();
  return registration;
}

/** Waits until published seals of the event's log and of its statement's log cover it; nothing changes after that. */
async function settled(deps: ScittDeps, principal: Principal, registration: Registration): Promise<boolean> {
  const { tenantId, eventId } = registration;
  const isPublic = tenantId === deps.publicTenancy;
  const statementLog = isPublic ? deps.publicStatementLog : deps.privateStatementLog;
  const eventLog = tenancyLog(tenantId);
  for (const until = performance.now() + SUCCEEDS_WITHIN_MS; ; ) {
    const left = until - performance.now();
    // Before the look: what is published during it must not be missed.
    const next = deps.receipts.nextSeal([eventLog, statementLog], Math.max(left, 0));
    const done = await readIn(deps, principal, async (tx) => {
      const keys = countedKeys(deps.keyring);
      if (!(await mmrReceipt(tx, eventLog, eventId, 'map', keys))) return false;
      return (await statementReceipt(tx, statementLog, eventId, keys)) !== undefined;
    });
    if (done || left <= 0) return done;
    await next;
  }
}

function readIn<Result>(deps: ScittDeps, principal: Principal, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const read = [principal.tenantId, deps.publicTenancy, deps.privateStatementLog.tenantId];
  return deps.database.inTransaction({ read, write: [] }, work);
}

const operationId = ({ eventId }: RegisteredEntry) => `event_${eventId}`;

const STILL_RUNNING = { status: 202, headers: { 'retry-after': '1' } } as const;

/** Stock clients that read CBOR name no content type, whether they send a body or not. */
function speaksJson({ accept, 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return asksForJson(accept) || /^application\/json\s*(?:;|$)/i.test(type);
}

function operationReply(operation: Operation, readsJson: boolean): Reply {
  if (readsJson) return { body: operation };
  const { operationID, status, entryID } = operation;
  const members = { OperationID: operationID, Status: status, ...(entryID === undefined ? {} : { EntryID: entryID }) };
  const map: CborMap = new Map(Object.entries(members));
  return { bytes: encodeCbor(map), contentType: 'application/cbor' };
}

function noSuchEntry(): ApiError {
  return new ApiError('not_found', 'There is no such registration.');
}
