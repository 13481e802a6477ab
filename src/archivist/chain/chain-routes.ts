import { z } from 'zod';
import { type Route, route } from '../../platform/http/route.js';
import { wholeListQuery, wholeListReply } from '../../platform/listing/whole-list.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { blockSchema } from './block.js';
import { nodeSchema } from './node.js';
import {
  blockQuerySchema,
  eventTransactionsSchema,
  type ReadChainDeps,
  readBlock,
  readEventTransactions,
  readNode,
} from './read-chain.js';

/** The node and its blocks (docs/design/interface.md#chain). */
export function nodeRoutes(deps: ReadChainDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/archivistnode',
      operationId: 'ArchivistNode_GetNode',
      summary: 'Read the state of the chain',
      access: 'token',
      success: 200,
      codes: [401, 403, 404, 429],
      response: nodeSchema,
      handle: async ({ principal }) => ({ body: await readNode(deps, principal) }),
    }),
    route({
      method: 'GET',
      path: '/archivist/v1/archivistnode/block',
      operationId: 'ArchivistNode_GetBlock',
      summary: 'Read a block by hash or number',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      query: blockQuerySchema,
      response: blockSchema,
      handle: async ({ principal, query }) => ({ body: await readBlock(deps, principal, query) }),
    }),
  ];
}

/** Transactions of asset events (docs/design/interface.md#chain). */
export function blockchainRoutes(deps: ReadChainDeps): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1alpha2/blockchain/assets/:asset_uuid/events/:uuid',
      operationId: 'Blockchain_ListEventTransactions',
      summary: 'List the chain transactions of an event',
      access: 'token',
      success: 200,
      codes: [400, 401, 403, 404, 429],
      params: z.object({ asset_uuid: uuidSchema, uuid: uuidSchema }),
      query: wholeListQuery,
      response: eventTransactionsSchema,
      handle: async ({ principal, params }) => {
        const event = { assetId: params.asset_uuid, eventId: params.uuid };
        return wholeListReply('transactions', (await readEventTransactions(deps, principal, event)).transactions);
      },
    }),
  ];
}
