import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { type KeyOperatorDeps, listKeys, ROTATABLE_ROLES, rotateDeploymentKey } from './manage-keys.js';

const KEYS = '/archivist/operator/v1/keys';
const keySchema = z.object({
  key_id: z.string(),
  role: z.string(),
  algorithm: z.string(),
  state: z.enum(['active', 'retired']),
  private_half: z.enum(['file', 'module', '']),
  valid_from: z.string(),
  valid_until: z.string(),
});

/** What the operator of a deployment does to its keys; ours. The command line `vcon-archivist keys` speaks to these. */
export function keyOperatorRoutes(deps: KeyOperatorDeps): Route[] {
  const shared = { access: 'operator', extension: true, success: 200 } as const;
  return [
    route({
      ...shared,
      method: 'GET',
      path: KEYS,
      operationId: 'Operator_ListKeys',
      summary: 'The deployment’s keys, retired ones too; public facts alone',
      codes: [401],
      response: z.object({ keys: z.array(keySchema) }),
      handle: async () => ({ body: { keys: await listKeys(deps) } }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${KEYS}/:role\\:rotate`,
      operationId: 'Operator_RotateKey',
      summary: 'Give a role a new key; the one before is retired and stays published',
      codes: [400, 401],
      params: z.object({ role: z.enum(ROTATABLE_ROLES) }),
      response: z.object({ active: keySchema, retired: keySchema }),
      handle: async ({ params }) => ({ body: await rotateDeploymentKey(deps, params.role) }),
    }),
  ];
}
