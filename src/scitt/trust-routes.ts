import { z } from 'zod';
import { toHex } from '../core/bytes.js';
import type { Principal } from '../platform/http/principal.js';
import { type Route, route } from '../platform/http/route.js';
import { uuidSchema } from '../platform/uuid-schema.js';
import type { ScittDeps } from './register-statement.js';
import { currentPolicy } from './registration-rules.js';
import { createTrustAnchorSchema, trustAnchorResponse, trustAnchorSchema } from './trust-anchor.js';
import {
  changeSettings,
  createTrustAnchor,
  deleteTrustAnchor,
  readTrustAnchorById,
  readTrustAnchors,
} from './write-trust-anchor.js';

const ANCHORS = '/archivist/v1/scitt/trust_anchors';
const POLICY = '/archivist/v1/scitt/registration_policy';
const ours = { access: 'token', extension: true, success: 200 } as const;
const policySchema = z.object({ policy: z.record(z.string(), z.unknown()), policy_sha256: z.string() });

/** The signers that a tenancy trusts, and its registration policy; only Owners may change them. */
export function trustRoutes(deps: ScittDeps): Route[] {
  return [...policyRoutes(deps), ...collectionRoutes(deps), ...itemRoutes(deps)];
}

function policyRoutes(deps: ScittDeps): Route[] {
  return [
    route({
      ...ours,
      method: 'GET',
      path: POLICY,
      operationId: 'SCITT_GetRegistrationPolicy',
      summary: 'Read the current registration policy of the tenancy',
      codes: [401, 429],
      response: policySchema,
      handle: async ({ principal }) => ({ body: await policyOf(deps, principal) }),
    }),
    route({
      ...ours,
      method: 'PATCH',
      path: POLICY,
      operationId: 'SCITT_UpdateRegistrationPolicy',
      summary: 'Allow or reject statements of unregistered issuers that carry their own key',
      codes: [400, 401, 403, 413, 429],
      body: z.object({ self_asserted: z.boolean() }),
      response: policySchema,
      handle: async ({ principal, body }) => {
        await changeSettings(deps, principal, { selfAsserted: body.self_asserted });
        return { body: await policyOf(deps, principal) };
      },
    }),
  ];
}

function policyOf(deps: ScittDeps, { tenantId }: Principal): Promise<z.infer<typeof policySchema>> {
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const { policy } = await currentPolicy(tx, tenantId, deps.reservedIssuers);
    return { policy: { ...policy.document }, policy_sha256: toHex(policy.digest) };
  });
}

function collectionRoutes(deps: ScittDeps): Route[] {
  return [
    route({
      ...ours,
      method: 'GET',
      path: ANCHORS,
      operationId: 'SCITT_ListTrustAnchors',
      summary: 'List registered issuers and certificate authorities, oldest first (at most 1,000)',
      codes: [401, 403, 429],
      response: z.object({ trust_anchors: z.array(trustAnchorSchema) }),
      handle: async ({ principal }) => ({
        body: { trust_anchors: (await readTrustAnchors(deps, principal)).map(trustAnchorResponse) },
      }),
    }),
    route({
      ...ours,
      method: 'POST',
      path: ANCHORS,
      operationId: 'SCITT_CreateTrustAnchor',
      summary: 'Register an issuer key or a certificate authority',
      codes: [400, 401, 402, 403, 409, 413, 429],
      body: createTrustAnchorSchema,
      response: trustAnchorSchema,
      handle: async ({ principal, body }) => ({
        body: trustAnchorResponse(await createTrustAnchor(deps, principal, body)),
      }),
    }),
  ];
}

function itemRoutes(deps: ScittDeps): Route[] {
  const item = { ...ours, path: `${ANCHORS}/:uuid`, params: z.object({ uuid: uuidSchema }) } as const;
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'SCITT_GetTrustAnchor',
      summary: 'Read a registered issuer or certificate authority',
      codes: [400, 401, 403, 404, 429],
      response: trustAnchorSchema,
      handle: async ({ principal, params }) => ({
        body: trustAnchorResponse(await readTrustAnchorById(deps, principal, params.uuid)),
      }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'SCITT_DeleteTrustAnchor',
      summary: 'Remove an issuer or certificate authority; existing registrations stay',
      codes: [400, 401, 403, 404, 429],
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await deleteTrustAnchor(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
  ];
}
