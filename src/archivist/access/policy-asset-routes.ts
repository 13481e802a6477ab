import { z } from 'zod';
import { accessPolicySchema } from '../../iam/access/access-policy.js';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { timestampSchema } from '../../platform/timestamps.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { assetSchema } from '../assets/asset.js';
import { ASSET_FILTERS, ASSET_LIST } from '../assets/asset-filter-store.js';
import type { ReadAssetDeps } from '../assets/read-assets.js';
import type { ListDeps } from '../read-scope.js';
import { listAssetsOfPolicy, listPoliciesOfAsset } from './policy-assets.js';

/** An asset as a policy's list shows it. */
const assetOfPolicySchema = assetSchema.extend({
  access_policy: z.strictObject({
    identity: z.string(),
    display_name: z.string(),
    description: z.string(),
    tenant: z.string(),
  }),
});
const byUuid = z.object({ uuid: uuidSchema });

/** Assets that a policy matches (docs/design/interface.md#access-policies). */
export function policyAssetRoutes(deps: ReadAssetDeps & ListDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/iam/v1/access_policies/:uuid/assets',
      operationId: 'AccessPolicies_ListMatchingAssets',
      summary: 'List the assets that an access policy matches',
      access: 'token',
      success: 200,
      codes: [206, 400, 401, 403, 404, 429, 500],
      params: byUuid,
      query: listQuerySchema(ASSET_FILTERS, ASSET_LIST),
      response: pageSchema('assets', assetOfPolicySchema),
      handle: async ({ principal, params, query, headers }) => {
        const exactTotal = wantsExactTotal(headers);
        return pageReply('assets', await listAssetsOfPolicy(deps, principal, params.uuid, { query, exactTotal }));
      },
    }),
  ];
}

/** Policies that match an asset (docs/design/interface.md#access-policies). */
export function assetPolicyRoutes(deps: ReadAssetDeps & ListDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/iam/v1/assets/:uuid/access_policies',
      operationId: 'Assets_ListMatchingAccessPolicies',
      summary: 'List the access policies that match an asset',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429, 500],
      params: byUuid,
      query: z.object({ at_time: timestampSchema.optional() }),
      longRead: ({ at_time: atTime }) => atTime !== undefined,
      response: pageSchema('access_policies', accessPolicySchema),
      handle: async ({ principal, params, query }) => {
        const entries = await listPoliciesOfAsset(deps, principal, params.uuid, query.at_time);
        return pageReply('access_policies', { entries, nextPageToken: '', total: entries.length });
      },
    }),
  ];
}
