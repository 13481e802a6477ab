import { readFileSync } from 'node:fs';
import { decode } from 'cborg';
import { decodeJwt } from 'jose';
import { sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { type Client, type TestService, template, until } from './test-service.js';
import { uploadFile } from './upload-file.js';

/** A thing that a POST of this body to the path makes, under this name. */
export interface Fresh {
  readonly name: string;
  readonly path: string;
  readonly body: unknown;
}

/** One line of fixtures/interface/access.json, which says what its members mean. */
export interface AccessRow {
  readonly route: string;
  readonly url: string;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Text of a file to upload. */
  readonly file?: string;
  /** Made by the owner before each call, for requests that use it up. */
  readonly fresh?: Fresh;
  readonly expect: readonly number[];
  /** Where a caller is not answered like the one that it is alike. */
  readonly but?: Readonly<Record<string, number>>;
  readonly sees?: {
    readonly text: string;
    readonly by: readonly boolean[];
    readonly but?: Readonly<Record<string, boolean>>;
  };
}

/** What the row says of a caller. */
export function expectedOf(row: AccessRow, caller: string): { status: number; sees: boolean } {
  const place = accessTable.callers.indexOf(accessTable.alike[caller] ?? caller);
  return {
    status: row.but?.[caller] ?? row.expect[place]!,
    sees: row.sees?.but?.[caller] ?? row.sees?.by[place] ?? false,
  };
}

export const accessTable = JSON.parse(
  readFileSync(new URL('../../fixtures/interface/access.json', import.meta.url), 'utf8'),
) as { callers: string[]; alike: Record<string, string>; rows: AccessRow[] };

/** What the names in a row's braces stand for. */
export type Things = Readonly<Record<string, string>>;

const BOUNDARY = 'boundary-of-the-table';

/** A request as it goes over the wire, without who makes it. */
export interface TableRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The request of a row. Braces are filled in with things, in the URL and in the texts of a body. */
export function requestOf(row: AccessRow, things: Things): TableRequest {
  const method = row.route.slice(0, row.route.indexOf(' '));
  const url = filled(row.url, things);
  if (row.file !== undefined) {
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    return { method, url, headers, body: `${head}${row.file}\r\n--${BOUNDARY}--\r\n` };
  }
  if (row.form) {
    const fields = Object.entries(row.form).map(([name, value]): [string, string] => [name, filled(value, things)]);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { method, url, headers, body: new URLSearchParams(fields).toString() };
  }
  if (row.body === undefined) return { method, url, headers: {}, body: undefined };
  const headers = { 'content-type': 'application/json' };
  return { method, url, headers, body: filled(JSON.stringify(row.body), things) };
}

/** Only names of things are filled in; the braces of JSON are none. */
export function filled(text: string, things: Things): string {
  return text.replaceAll(/\{(\w+)\}/g, (braces, name: string) => things[name] ?? braces);
}

/** Everything that the rows act on, made by the creator, and sealed. */
export async function makeThings(running: TestService, creator: Client): Promise<Things> {
  const uploaded = await uploadFile(running.url, creator, new TextEncoder().encode('a recording'), 'audio/wav');
  const { alg, value } = uploaded.json['hash'] as { alg: string; value: string };
  const recording = {
    arc_attribute_type: 'arc_attachment',
    arc_blob_identity: uploaded.json['identity'],
    arc_blob_hash_alg: alg,
    arc_blob_hash_value: value,
  };
  const attributes = { arc_display_type: 'Call', note: 'a', recording };
  const asset = await made(creator, '/archivist/v2/assets', { attributes });
  const publicAsset = await made(creator, '/archivist/v2/assets', { attributes, public: true });
  const note = {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://a-call', { recording }),
  };
  const event = await made(creator, `/archivist/v2/${asset}/events`, note);
  const publicEvent = await made(creator, `/archivist/v2/${publicAsset}/events`, note);
  const assetFreeEvent = await made(creator, '/archivist/v1/events', {
    attributes: template('vcon://a-call'),
    trails: ['calls'],
  });
  const { owner } = running;
  const policy = {
    compliance_type: 'COMPLIANCE_SINCE',
    display_name: 'Calls are recorded',
    asset_filter: [{ or: ['attributes.arc_display_type=Call'] }],
    event_display_type: 'vcon_created',
    time_period_seconds: '60',
  };
  const location = { display_name: 'The exchange', latitude: 47, longitude: 8 };
  const registered = await registeredEntry(running.url, creator, 'publicscitt');
  const privately = await registeredEntry(running.url, creator, 'scitt');
  await sealed(creator, [`/archivist/v2/${event}`, `/archivist/v2/${publicEvent}`, `/archivist/v1/${assetFreeEvent}`]);
  return {
    asset: idOf(asset),
    event: idOf(event),
    publicAsset: idOf(publicAsset),
    publicEvent: idOf(publicEvent),
    assetFreeEvent: idOf(assetFreeEvent),
    blob: idOf(String(uploaded.json['identity'])),
    policy: idOf(await made(owner, '/archivist/v1/compliance_policies', policy)),
    accessPolicy: idOf(
      await made(owner, '/archivist/iam/v1/access_policies', {
        display_name: 'Traffic lights',
        filters: [{ or: ['attributes.arc_display_type=Traffic light'] }],
        access_permissions: [],
      }),
    ),
    location: idOf(await made(owner, '/archivist/v2/locations', location)),
    ownersAsset: idOf(await made(owner, '/archivist/v2/assets', { attributes: { arc_display_type: 'Call' } })),
    statementAsset: registered.asset,
    registered: registered.event,
    privateStatementAsset: privately.asset,
    privatelyRegistered: privately.event,
    trustAnchor: idOf(await made(owner, '/archivist/v1/scitt/trust_anchors', trustedIssuer())),
    creator: creator.clientId,
    tenant: idOf(String(decodeJwt(creator.token)['jit_tenant_id'])),
  };
}

function trustedIssuer() {
  return { issuer: 'https://another.example', public_key: sampleIssuer().publicKey.export({ format: 'jwk' }) };
}

/** A statement that the client registers, once its registration is finished. */
async function registeredEntry(url: string, client: Client, door: string): Promise<{ asset: string; event: string }> {
  const path = `/archivist/v1/${door}`;
  const registered = await sendCose(url, client, `${path}/entries`, sampleStatement(sampleIssuer()), {});
  const operation = decode(registered.bytes) as { OperationID: string };
  const ask = () => sendCose(url, client, `${path}/operations/${operation.OperationID}`);
  const { bytes } = await until(ask, (answer) => answer.status === 200, 30_000);
  const [, asset = '', event = ''] =
    /^assets_(.+)_events_(.+)$/.exec((decode(bytes) as { EntryID: string }).EntryID) ?? [];
  return { asset, event };
}

/** The things, and with them a new one where the row needs that. */
export async function withFresh(things: Things, row: AccessRow, owner: Client): Promise<Things> {
  if (!row.fresh) return things;
  const { name, path, body } = row.fresh;
  return { ...things, [name]: idOf(await made(owner, path, body)) };
}

async function made(client: Client, path: string, body: unknown): Promise<string> {
  const answer = await client.post(path, body);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.json['description']}`);
  return String(answer.json['identity']);
}

async function sealed(client: Client, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const isConfirmed = (answer: { json: Record<string, unknown> }) =>
      answer.json['confirmation_status'] === 'CONFIRMED';
    const answer = await until(() => client.get(path), isConfirmed, 30_000);
    if (!isConfirmed(answer)) throw new Error(`${path} was not sealed in time`);
  }
}

function idOf(identity: string): string {
  return identity.slice(identity.lastIndexOf('/') + 1);
}
