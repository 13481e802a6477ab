import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { timestampSchema } from '../../platform/timestamps.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { publicUrlSchema } from '../public-url.js';
import { type ListDeps, readByIdScope } from '../read-scope.js';
import { assetSchema } from './asset.js';
import { ASSET_FILTERS, ASSET_LIST } from './asset-filter-store.js';
import { listOwnAssets, type ReadAssetDeps, readAsset, requireAsset } from './read-assets.js';

export interface AssetDeps extends ReadAssetDeps, ListDeps {
  readonly publicUrl: string;
}

const byUuid = z.object({ uuid: uuidSchema });

/**
 * Reads assets (docs/design/interface.md#assets). Paths with a colon come before the path whose parameter would match them
 * too.
 */
export function assetRoutes(deps: AssetDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v2/assets',
      operationId: 'Assets_ListAssets',
      summary: 'List assets, newest first',
      access: 'token',
      success: 200,
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema(ASSET_FILTERS, ASSET_LIST),
      response: pageSchema('assets', assetSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply('assets', await listOwnAssets(deps, principal, { query, exactTotal: wantsExactTotal(headers) })),
    }),
    route({
      method: 'GET',
      path: '/archivist/v2/assets/:uuid\\:publicurl',
      operationId: 'Assets_GetAssetPublicURL',
      summary: 'Get the public URL of a public asset',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: byUuid,
      response: publicUrlSchema,
      handle: async ({ principal, params }) => ({
        body: await deps.database.inTransaction(readByIdScope(deps.deployment, principal.tenantId), async (tx) => {
          const asset = await requireAsset(tx, principal, params.uuid);
          if (!asset.public) throw new ApiError('not_found', 'Only a public asset has a public URL.');
          return { publicurl: `${deps.publicUrl}/archivist/v2/publicassets/${asset.assetId}` };
        }),
      }),
    }),
    route({
      method: 'GET',
      path: '/archivist/v2/assets/:uuid',
      operationId: 'Assets_GetAsset',
      summary: 'Read an asset, now or at a past time',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: byUuid,
      query: z.object({ at_time: timestampSchema.optional() }),
      longRead: ({ at_time: atTime }) => atTime !== undefined,
      response: assetSchema,
      handle: async ({ principal, params, query }) => ({
        body: await readAsset(deps, principal, params.uuid, query.at_time),
      }),
    }),
  ];
}
