import { z } from 'zod';
import type { Principal } from '../../platform/http/principal.js';
import { type Access, type Reply, type Route, route } from '../../platform/http/route.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import { blobResponse, blobSchema } from '../blobs/blob.js';
import { downloadQuery, sendBlob } from '../blobs/send-blob.js';
import {
  type AttachedBlob,
  type AttachmentAddress,
  type AttachmentDeps,
  readAttachment,
  readPublicAttachment,
} from './read-attachment.js';

const BASE = '/archivist/v2/attachments';
const ANYWHERE = { 'access-control-allow-origin': '*' };

/**
 * Attachments, private and public, by the asset or event that names them
 * (docs/design/interface.md#attachments-and-blobs).
 */
export function attachmentRoutes(deps: AttachmentDeps): Route[] {
  return [
    ...routesOf('token', 'assets', 'Attachments', deps),
    ...routesOf('public', 'publicassets', 'Attachments_Public', deps),
  ];
}

function routesOf(access: Access, form: string, name: string, deps: AttachmentDeps): Route[] {
  const codes = access === 'public' ? [400, 404] : [400, 401, 403, 404, 429];
  const ofAsset = z.object({ asset_uuid: uuidSchema, uuid: uuidSchema });
  const places = [
    { path: `${BASE}/${form}/:asset_uuid/:uuid`, params: ofAsset, of: 'Asset' },
    {
      path: `${BASE}/${form}/:asset_uuid/events/:event_uuid/:uuid`,
      params: ofAsset.extend({ event_uuid: uuidSchema }),
      of: 'Event',
    },
  ];
  const prefix = access === 'public' ? name : `${name}_`;
  return places.flatMap(({ path, params, of }) => [
    route({
      method: 'GET',
      path,
      operationId: `${prefix}${of}_Download`,
      summary: `Download an attachment of an ${of.toLowerCase()}, or a range of its bytes`,
      access,
      success: 200,
      codes: [206, 304, ...codes, 416],
      params,
      wrongId: 'bad_request',
      query: downloadQuery,
      rawResponse: '*/*',
      answerHeaders: { 200: ['content-disposition'], 206: ['content-disposition'] },
      handle: async ({ principal, params: place, query, headers }): Promise<Reply> => {
        const { blob, attachment } = await attachedTo(deps, principal, place);
        const given = attachment.fields['arc_file_name'];
        const fileName = typeof given === 'string' && given !== '' ? given : place.uuid;
        return sendBlob(deps.objectStore, blob, { query, headers, fileName, anonymous: !principal });
      },
    }),
    route({
      method: 'GET',
      path: `${path}/info`,
      operationId: `${prefix}${of}_Info`,
      summary: `Read the metadata of an attachment of an ${of.toLowerCase()}`,
      access,
      success: 200,
      codes,
      params,
      wrongId: 'bad_request',
      response: blobSchema,
      handle: async ({ principal, params: place }): Promise<Reply> => {
        const { blob } = await attachedTo(deps, principal, place);
        return { body: blobResponse(blob, !principal), ...(principal ? {} : { headers: ANYWHERE }) };
      },
    }),
  ]);
}

function attachedTo(
  deps: AttachmentDeps,
  principal: Principal | undefined,
  place: { asset_uuid: string; uuid: string; event_uuid?: string | undefined },
): Promise<AttachedBlob> {
  const address: AttachmentAddress = {
    assetId: place.asset_uuid,
    blobId: place.uuid,
    ...(place.event_uuid === undefined ? {} : { eventId: place.event_uuid }),
  };
  return principal ? readAttachment(deps, principal, address) : readPublicAttachment(deps, address);
}
