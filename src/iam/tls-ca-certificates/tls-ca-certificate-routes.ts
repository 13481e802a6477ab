import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Reply, type Route, route } from '../../platform/http/route.js';
import { NAME_ORDERS } from '../../platform/listing/list-order.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply } from '../../platform/listing/page-reply.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { listTlsCaCertificates, readTlsCaCertificate } from './read-tls-ca-certificates.js';
import {
  changeTlsCaCertificateSchema,
  createTlsCaCertificateSchema,
  tlsCaCertificateSchema,
} from './tls-ca-certificate.js';
import {
  changeTlsCaCertificate,
  createTlsCaCertificate,
  deleteTlsCaCertificate,
  type TlsCaCertificateDeps,
} from './write-tls-ca-certificate.js';

const CERTIFICATES = '/archivist/v1/tlscacertificates';

export interface TlsCaCertificateRouteDeps extends TlsCaCertificateDeps {
  readonly pageTokens: PageTokens;
}

/** TLS CA certificates (docs/design/interface.md#tls-ca-certificates). */
export function tlsCaCertificateRoutes(deps: TlsCaCertificateRouteDeps): Route[] {
  return [...collectionRoutes(deps), ...itemRoutes(deps)];
}

function collectionRoutes(deps: TlsCaCertificateRouteDeps): Route[] {
  const shared = { path: CERTIFICATES, access: 'token', success: 200 } as const;
  const list = z.array(tlsCaCertificateSchema);
  return [
    route({
      ...shared,
      method: 'GET',
      operationId: 'TLSCACertificates_ListTLSCACertificates',
      summary: 'List TLS CA certificates, newest first or by name',
      codes: [206, 400, 401, 403, 429, 500],
      query: listQuerySchema(['display_name', 'order_by'], { values: { order_by: NAME_ORDERS } }),
      response: z.strictObject({ tlscacertificates: list, certificates: list, next_page_token: z.string() }),
      handle: ({ principal, query, headers }) => pageOf(deps, principal, query, wantsExactTotal(headers)),
    }),
    route({
      ...shared,
      method: 'POST',
      operationId: 'TLSCACertificates_CreateTLSCACertificate',
      summary: 'Accept client certificates of an authority as identities of the tenancy',
      codes: [400, 401, 402, 403, 413, 429, 500],
      body: createTlsCaCertificateSchema,
      response: tlsCaCertificateSchema,
      handle: async ({ principal, body }) => ({ body: await createTlsCaCertificate(deps, principal, body) }),
    }),
  ];
}

/** A page of the collection, under both of its names. */
async function pageOf(
  deps: TlsCaCertificateRouteDeps,
  principal: Principal,
  query: Readonly<Record<string, unknown>>,
  exactTotal: boolean,
): Promise<Reply> {
  const page = await listTlsCaCertificates(deps, principal, { query, exactTotal });
  const reply = pageReply('tlscacertificates', page);
  return { ...reply, body: { ...(reply.body as Record<string, unknown>), certificates: page.entries } };
}

function itemRoutes(deps: TlsCaCertificateRouteDeps): Route[] {
  const params = z.object({ uuid: uuidSchema });
  const item = {
    path: `${CERTIFICATES}/:uuid`,
    params,
    wrongId: 'bad_request',
    access: 'token',
    success: 200,
  } as const;
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'TLSCACertificates_GetTLSCACertificate',
      summary: 'Read a TLS CA certificate',
      codes: [400, 401, 403, 404, 429, 500],
      response: tlsCaCertificateSchema,
      handle: async ({ principal, params }) => ({ body: await readTlsCaCertificate(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'PATCH',
      operationId: 'TLSCACertificates_UpdateTLSCACertificate',
      summary: 'Change a TLS CA certificate',
      codes: [400, 401, 403, 404, 413, 429, 500],
      body: changeTlsCaCertificateSchema,
      response: tlsCaCertificateSchema,
      handle: async ({ principal, params, body }) => ({
        body: await changeTlsCaCertificate(deps, principal, params.uuid, body),
      }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'TLSCACertificates_DeleteTLSCACertificate',
      summary: 'Delete a TLS CA certificate: the certificates that it issued are no longer accepted',
      codes: [400, 401, 403, 404, 429, 500],
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await deleteTlsCaCertificate(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
  ];
}
