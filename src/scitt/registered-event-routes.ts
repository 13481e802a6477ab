import { z } from 'zod';
import { type CborMap, encodeCbor } from '../core/cose/cbor.js';
import { permits } from '../iam/access/permits.js';
import { mmrReceipt, statementReceipt } from '../ledger/receipts.js';
import { findRegistration, type RegisteredEntry, type Registration } from '../ledger/registration-store.js';
import { ApiError } from '../platform/errors.js';
import type { Principal } from '../platform/http/principal.js';
import { type Reply, type Route, route } from '../platform/http/route.js';
import type { Tx } from '../platform/postgres/database.js';
import { privateBulkRoute } from './bulk-routes.js';
import { STATEMENT_LIMITS } from './examine-statement.js';
import { registerStatement, type ScittDeps } from './register-statement.js';

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
 * event, public or private. Its receipt is that of its tenancy log, in the map form. Responses are CBOR maps.
 */
export function publicScittRoutes(deps: ScittDeps): Route[] {
  return doorRoutes(deps, { path: '/archivist/v1/publicscitt', name: 'PublicSCITT', public: true });
}

/** The same for events that only the tenancy can read. */
export function privateScittRoutes(deps: ScittDeps): Route[] {
  return [...doorRoutes(deps, { path: '/archivist/v1/scitt', name: 'SCITT', public: false }), privateBulkRoute(deps)];
}

const CBOR = { access: 'token', success: 200, rawResponse: 'application/cbor' } as const;

function doorRoutes(deps: ScittDeps, door: Door): Route[] {
  return [
    route({
      ...CBOR,
      method: 'POST',
      path: `${door.path}/entries`,
      operationId: `${door.name}_RegisterSignedStatement`,
      summary: 'Register a signed statement; returns an operation to poll',
      codes: [400, 401, 402, 403, 413, 429],
      rawBody: true,
      bodyLimit: STATEMENT_LIMITS.maxBytes,
      handle: async ({ principal, rawBody }) => {
        const entry = await registerStatement(deps, principal, { submitted: rawBody, public: door.public });
        return cborReply({ OperationID: operationId(entry), Status: 'running' });
      },
    }),
    operationRoute(deps, door),
    entryRoute(deps, door, '', 'RetrieveSignedStatement', 'Get a registered statement, byte for byte'),
    entryRoute(deps, door, '/receipt', 'RetrieveRegistrationReceipt', 'Get the receipt of a registered statement'),
  ];
}

function operationRoute(deps: ScittDeps, door: Door): Route {
  return route({
    ...CBOR,
    method: 'GET',
    path: `${door.path}/operations/:operationID`,
    operationId: `${door.name}_RetrieveOperationStatus`,
    summary: 'Poll a registration; waits briefly for it to finish',
    codes: [202, 400, 401, 403, 404, 429],
    params: z.object({ operationID: z.string() }),
    handle: async ({ principal, params }) => {
      const eventId = OPERATION_ID.exec(params.operationID.toLowerCase())?.[1];
      if (eventId === undefined) throw new ApiError('bad_request', 'operationID: must be event_<uuid>');
      const registration = await readIn(deps, principal, (tx) =>
        requireRegistration(deps, tx, principal, door, eventId),
      );
      const done = await settled(deps, principal, registration);
      const named = { OperationID: operationId(registration), Status: done ? 'succeeded' : 'running' };
      return done
        ? cborReply({ ...named, EntryID: `assets_${registration.assetId}_events_${eventId}` })
        : { ...cborReply(named, { 'retry-after': '1' }), status: 202 };
    },
  });
}

function entryRoute(deps: ScittDeps, door: Door, part: '' | '/receipt', name: string, summary: string): Route {
  return route({
    ...CBOR,
    method: 'GET',
    path: `${door.path}/entries/:entryID${part}`,
    operationId: `${door.name}_${name}`,
    summary,
    codes: [400, 401, 403, 404, 429],
    params: z.object({ entryID: z.string() }),
    handle: ({ principal, params }) =>
      readIn(deps, principal, async (tx) => {
        const registration = await requireEntry(deps, tx, principal, door, params.entryID);
        const log = deps.tenancyLog(registration.tenantId);
        const bytes = part === '' ? registration.submitted : await mmrReceipt(tx, log, registration.eventId, 'map');
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
  if (eventId === undefined) throw new ApiError('bad_request', 'entryID: must be assets_<uuid>_events_<uuid>');
  const registration = await requireRegistration(deps, tx, principal, door, eventId);
  if (registration.assetId !== assetId) throw noSuchEntry();
  return registration;
}

/** Returns a registration that this principal may read: any public one, its own, or as an Owner any of the tenancy. */
async function requireRegistration(
  deps: ScittDeps,
  tx: Tx,
  principal: Principal,
  door: Door,
  eventId: string,
): Promise<Registration> {
  const tenantId = door.public ? deps.publicTenancy : principal.tenantId;
  const registration = await findRegistration(tx, { tenantId, eventId });
  const { creatorIssuer = '', creatorSubject = '' } = registration ?? {};
  const readable =
    door.public || permits(principal, 'read', { kind: 'registration', tenantId, creatorIssuer, creatorSubject });
  if (!registration || !readable) throw noSuchEntry();
  return registration;
}

/** Waits until published seals of the event's log and of its statement's log cover it; nothing changes after that. */
async function settled(deps: ScittDeps, principal: Principal, registration: Registration): Promise<boolean> {
  const { tenantId, eventId } = registration;
  const isPublic = tenantId === deps.publicTenancy;
  const statementLog = isPublic ? deps.publicStatementLog : deps.privateStatementLog;
  const tenancyLog = deps.tenancyLog(tenantId);
  for (const until = performance.now() + SUCCEEDS_WITHIN_MS; ; ) {
    const left = until - performance.now();
    // Before the look: what is published during it must not be missed.
    const next = deps.receipts.nextSeal([tenancyLog, statementLog], Math.max(left, 0));
    const done = await readIn(deps, principal, async (tx) => {
      if (!(await mmrReceipt(tx, tenancyLog, eventId, 'map'))) return false;
      return (await statementReceipt(tx, statementLog, eventId)) !== undefined;
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

function cborReply(members: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Reply {
  const map: CborMap = new Map(Object.entries(members));
  return { bytes: encodeCbor(map), contentType: 'application/cbor', headers };
}

function noSuchEntry(): ApiError {
  return new ApiError('not_found', 'There is no such registration.');
}
