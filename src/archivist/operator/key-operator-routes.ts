import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import {
  type KeyOperatorDeps,
  listKeys,
  ROTATABLE_ROLES,
  revokeKey,
  rotateDeploymentKey,
  rotateRoot,
  shownManifest,
} from './manage-keys.js';
import { proposeManifest, publishManifest } from './offline-root.js';

const KEYS = '/archivist/operator/v1/keys';
const place = z.enum(['file', 'module', '']);
const keySchema = z.object({
  key_id: z.string(),
  role: z.string(),
  algorithm: z.string(),
  state: z.enum(['pending', 'active', 'retired', 'revoked']),
  private_half: place,
  valid_from: z.string(),
  valid_until: z.string(),
});
const manifestSchema = z.object({
  number: z.number(),
  issued_at: z.string(),
  root_fingerprint: z.string(),
  root_private_half: place,
  keys_log: z.string(),
});
const stolen = z.strictObject({ stolen: z.boolean().default(false) });
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const bytes = z.strictObject({ manifest: z.string().max(2_000_000).regex(BASE64, 'must be base64') });
const change = z.strictObject({
  change: z.enum(['rotate', 'activate', 'revoke', 'root', 'renew']),
  role: z.enum(ROTATABLE_ROLES).optional(),
  stolen: z.boolean().default(false),
  key_id: z.string().max(128).optional(),
  root: z.record(z.string(), z.unknown()).optional(),
});

/**
 * What the operator of a deployment does with its keys: an extension of the interface, used by `vcon-archivist keys`.
 */
export function keyOperatorRoutes(deps: KeyOperatorDeps): Route[] {
  return [...keyRoutes(deps), ...rootRoutes(deps)];
}

const shared = { access: 'operator', extension: true, success: 200 } as const;

function keyRoutes(deps: KeyOperatorDeps): Route[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path: KEYS,
      operationId: 'Operator_ListKeys',
      summary: 'List the deployment’s keys (public data only)',
      codes: [401],
      response: z.object({ manifest: manifestSchema, faults: z.array(z.string()), keys: z.array(keySchema) }),
      handle: async () => {
        await deps.adoptNow();
        return { body: { manifest: await shownManifest(deps), faults: deps.faults(), keys: await listKeys(deps) } };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${KEYS}/:role\\:rotate`,
      operationId: 'Operator_RotateKey',
      summary: 'Rotate the key of a role; the old key is retired, or revoked if it was stolen',
      codes: [400, 401, 404, 409],
      params: z.object({ role: z.enum(ROTATABLE_ROLES) }),
      body: stolen,
      response: z.object({
        active: keySchema,
        retired: keySchema.optional(),
        pending: keySchema.optional(),
        waits_for: z.string().optional(),
      }),
      handle: async ({ params, body }) => ({ body: await rotateDeploymentKey(deps, params.role, body.stolen) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${KEYS}/:key_id\\:revoke`,
      operationId: 'Operator_RevokeKey',
      summary: 'Revoke a retired key that was stolen',
      codes: [400, 401, 404, 409],
      params: z.object({ key_id: z.string().max(128) }),
      body: z.strictObject({}),
      response: keySchema,
      handle: async ({ params }) => ({ body: await revokeKey(deps, params.key_id) }),
    }),
  ];
}

function rootRoutes(deps: KeyOperatorDeps): Route[] {
  return [
    route({
      ...shared,
      method: 'POST',
      path: '/archivist/operator/v1/root_key\\:rotate',
      operationId: 'Operator_RotateRoot',
      summary: 'Rotate the root key; the old one signs the change',
      codes: [400, 401, 409],
      body: z.strictObject({}),
      response: manifestSchema,
      handle: async () => ({ body: await rotateRoot(deps) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/archivist/operator/v1/key_manifests\\:propose',
      operationId: 'Operator_ProposeKeyManifest',
      summary: 'Get the next key manifest unsigned, for an offline root key',
      codes: [400, 401, 404, 409],
      body: change,
      response: z.object({ number: z.number(), manifest: z.string() }),
      handle: async ({ body }) => ({ body: await proposeManifest(deps, body) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/archivist/operator/v1/key_manifests',
      operationId: 'Operator_PublishKeyManifest',
      summary: 'Submit a key manifest that the offline root key has signed',
      codes: [400, 401, 409],
      body: bytes,
      response: manifestSchema,
      handle: async ({ body }) => ({ body: await publishManifest(deps, body.manifest) }),
    }),
  ];
}
