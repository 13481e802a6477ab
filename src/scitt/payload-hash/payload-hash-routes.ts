import { z } from 'zod';
import { ApiError, retryLater } from '../../platform/errors.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { configurationRoutes, type DiscoveryDeps } from '../discovery-routes.js';
import { requireCose, STATEMENT_TYPES } from '../entry-routes.js';
import { STATEMENT_LIMITS } from '../examine-statement.js';
import { problemDetails } from '../problem-details.js';
import { StatementRefused } from '../statement-refused.js';
import { hasPayloadHashEntry } from './payload-hash-store.js';
import { type PayloadHashDeps, registerPayloadHash } from './register-payload-hash.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The stock client accepts only the receipt itself as a response, so every request waits for it. */
const WITHIN_MS = 25_000;

/**
 * The payload-hash profile: separate SCRAPI routes for the conserver's stock SCITT link, which sends no token and
 * checks receipts over the payload's hash. Pinned issuers and a rate limit for each address replace the token.
 * @param at path prefix of all routes
 */
export function payloadHashRoutes(deps: PayloadHashDeps & DiscoveryDeps, at: string): Route[] {
  return [registerRoute(deps, at), receiptRoute(deps, at), ...configurationRoutes(deps, at, 'PayloadHash')];
}

function registerRoute(deps: PayloadHashDeps & DiscoveryDeps, at: string): Route {
  return route({
    method: 'POST',
    path: `${at}/entries`,
    operationId: 'PayloadHash_RegisterSignedStatement',
    summary: 'Register a statement of a pinned issuer and return its receipt',
    access: 'public',
    extension: true,
    success: 201,
    codes: [400, 413, 415, 429, 503],
    rawBody: true,
    requestType: STATEMENT_TYPES,
    answerHeaders: { 201: ['location'] },
    bodyLimit: STATEMENT_LIMITS.maxBytes,
    rawResponse: 'application/cose',
    refusal: problemDetails(),
    handle: async ({ rawBody, headers, address }) => {
      await deps.admit(address);
      requireCose(headers['content-type']);
      const entryId = await registerPayloadHash(deps, rawBody);
      return receiptOf(deps, at, entryId);
    },
  });
}

function receiptRoute(deps: PayloadHashDeps & DiscoveryDeps, at: string): Route {
  return route({
    method: 'GET',
    path: `${at}/entries/:id`,
    operationId: 'PayloadHash_RetrieveReceipt',
    summary: 'Get the receipt of an entry',
    access: 'public',
    extension: true,
    success: 200,
    codes: [400, 404, 429, 503],
    answerHeaders: { 200: ['location'] },
    params: z.object({ id: z.string() }),
    rawResponse: 'application/cose',
    refusal: problemDetails('Operation Not Found'),
    handle: async ({ params, address }) => {
      await deps.admit(address);
      const id = params.id.toLowerCase();
      if (!UUID.test(id)) throw new StatementRefused('Invalid locator', 'The id of an entry is a UUID.');
      const { tenantId } = deps.log;
      const known = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
        hasPayloadHashEntry(tx, tenantId, id),
      );
      if (!known) throw new ApiError('not_found', 'There is no registration with this id.');
      return receiptOf(deps, at, id);
    },
  });
}

async function receiptOf(deps: PayloadHashDeps & DiscoveryDeps, at: string, entryId: string): Promise<Reply> {
  const bytes = await deps.receipts.receipt(deps.log, entryId, WITHIN_MS);
  if (!bytes)
    throw retryLater('unavailable', 'The statement is registered, but its log is not sealed yet: send it again.', 1);
  const headers = { location: `${deps.publicUrl}${at}/entries/${entryId}` };
  return { bytes, contentType: 'application/cose', headers };
}
