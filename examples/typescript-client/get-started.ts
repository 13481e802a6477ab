// From a token to evidence, with a client whose types come from the service's own description.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const { ARCHIVIST_URL, ARCHIVIST_CLIENT_ID, ARCHIVIST_CLIENT_SECRET } = process.env;
if (!ARCHIVIST_URL || !ARCHIVIST_CLIENT_ID || !ARCHIVIST_CLIENT_SECRET)
  throw new Error('set ARCHIVIST_URL, ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET');
const [file = 'call.vcon.json'] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: ARCHIVIST_URL });

/** The data of an answer. @throws {Error} with the service's own description of what to change */
function answered<Data>({ data, error }: { data?: Data; error?: { description?: string } }): Data {
  if (data === undefined) throw new Error(error?.description ?? 'no answer');
  return data;
}

const token = answered(
  await client.POST('/archivist/iam/v1/appidp/token', {
    body: { grant_type: 'client_credentials', client_id: ARCHIVIST_CLIENT_ID, client_secret: ARCHIVIST_CLIENT_SECRET },
    bodySerializer: (body) => new URLSearchParams(body),
  }),
);
const headers = { authorization: `Bearer ${token.access_token}` };

const asset = answered(
  await client.POST('/archivist/v2/assets', {
    headers,
    body: { behaviours: ['RecordEvidence'], attributes: { arc_display_name: file, arc_display_type: 'vcon' } },
  }),
);
const uuid = asset.identity.replace('assets/', '');

const document = await readFile(file);
const event = answered(
  await client.POST('/archivist/v2/assets/{uuid}/events', {
    headers,
    params: { path: { uuid } },
    body: {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: {
        arc_display_type: 'vcon_created',
        vcon_operation: 'vcon_created',
        subject: `vcon://${(JSON.parse(document.toString()) as { uuid: string }).uuid}`,
        payload: createHash('sha256').update(document).digest('hex'),
        payload_hash_alg: 'SHA-256',
      },
    },
  }),
);

const path = { asset_uuid: uuid, uuid: event.identity.split('/').at(-1)! };

/** The evidence, once both logs of the event are sealed. Until then the service answers 404 `not_ready`. */
async function evidence(): Promise<ArrayBuffer> {
  for (;;) {
    const answer = await client.GET('/archivist/v2/assets/{asset_uuid}/events/{uuid}/evidence', {
      headers,
      params: { path },
      parseAs: 'arrayBuffer',
    });
    if (answer.error?.error !== 'not_ready') return answered(answer);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
await writeFile('evidence.zip', new Uint8Array(await evidence()));

const query = { page_size: 3, confirmation_status: 'CONFIRMED' as const };
const list = answered(
  await client.GET('/archivist/v2/assets/{uuid}/events', { headers, params: { path: { uuid }, query } }),
);
console.log(`${event.identity}: evidence in evidence.zip; the asset has ${list.events.length} confirmed events`);
