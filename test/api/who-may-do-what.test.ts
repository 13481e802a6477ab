import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  confirmed,
  exchangeSubjects,
  listed,
  made,
  openScene,
  POLICIES,
  recorded,
  type Scene,
} from './policy-scene.js';
import { type Client, clientWith, requestToken, template, until } from './test-service.js';

/** The three policies of the README, letter by letter; what stands in angle brackets is filled in. */
const AUDITORS_READ_EVERYTHING = `{
  "display_name": "Auditors read everything",
  "filters": [],
  "access_permissions": [
    {
      "user_attributes": [{ "or": ["group:auditors", "jwt_role=auditor"] }],
      "behaviours": ["*"],
      "asset_attributes_read": ["*"],
      "event_arc_display_type_read": ["*"]
    }
  ]
}`;
const A_PARTNER_SEES_ONE_LABEL = `{
  "display_name": "Acme sees the state of its calls",
  "filters": [{ "or": ["attributes.partner=acme"] }],
  "access_permissions": [
    {
      "subjects": ["<subject>"],
      "asset_attributes_read": ["state"]
    }
  ]
}`;
const AN_APPLICATION_RECORDS_ONLY = `{
  "display_name": "The transcriber records transcripts",
  "filters": [{ "or": ["attributes.arc_display_type=call"] }],
  "access_permissions": [
    {
      "user_attributes": [{ "or": ["subject=<client id>"] }],
      "behaviours": ["RecordEvidence"],
      "event_arc_display_type_write": ["transcript"]
    }
  ]
}`;

let scene: Scene;
let owner: Client;
beforeAll(async () => {
  scene = await openScene();
  ({ owner } = scene);
});
afterAll(() => scene?.close());

async function created(policy: string, values: Record<string, string> = {}): Promise<void> {
  const body = policy.replaceAll(/<([a-z ]+)>/g, (_, name: string) => values[name]!);
  made(await owner.post(POLICIES, body));
}

async function applicationWithClaims(claims: Record<string, string>): Promise<Client> {
  const { json } = await owner.post('/archivist/iam/v1/applications', {
    display_name: 'Auditor',
    custom_claims: claims,
  });
  const [credential] = json['credentials'] as { secret: string }[];
  const form = { grant_type: 'client_credentials', client_id: String(json['client_id']) };
  const token = await requestToken(scene.url, { ...form, client_secret: credential!.secret });
  return clientWith(scene.url, String(token.json['access_token']), form.client_id);
}

const statusOf = async (client: Client, path: string) => (await client.get(path)).status;

describe('auditors read everything', () => {
  it('of every asset that is not their own, with proofs, and write nothing', async () => {
    const auditor = await applicationWithClaims({ role: 'auditor' });
    const attributes = { arc_display_type: 'audited', state: 'closed' };
    const asset = await scene.asset(attributes);
    const event = await scene.event(asset, {
      event_attributes: template('vcon://audited'),
      asset_attributes: { state: 'open' },
    });
    expect(await statusOf(auditor, `/archivist/v2/${asset}`)).toBe(404);
    await created(AUDITORS_READ_EVERYTHING);
    // Between two questions the log may go on.
    const shownTo = async (client: Client) => ({
      ...(await client.get(`/archivist/v2/${asset}`)).json,
      at_time: 'now',
      confirmation_status: 'whichever',
    });
    expect(await shownTo(auditor)).toEqual(await shownTo(owner));
    expect(await listed(auditor, '/archivist/v2/assets?attributes.state=open')).toEqual([asset]);
    expect(
      await listed(auditor, `/archivist/v2/${asset}/events?event_attributes.subject=vcon://audited`, 'events'),
    ).toEqual([event]);
    await confirmed(owner, event);
    for (const proof of ['receipt', 'transparent-statement', 'signed-statement']) {
      // The statement log has a sequencer of its own.
      const ask = () => auditor.get(`/archivist/v2/${event}/${proof}`);
      const { status } = await until(ask, (answer) => answer.status === 200, 20_000);
      expect([proof, status]).toEqual([proof, 200]);
    }
    const note = { event_attributes: { arc_display_type: 'note' } };
    expect((await auditor.post(`/archivist/v2/${asset}/events`, recorded(note))).status).toBe(403);
  });
});

describe('a partner sees one label', () => {
  it('of the assets that carry its name, and no more by any other way', async () => {
    const partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const its = await scene.asset({ partner: 'acme', state: 'open', secret: 'price', arc_display_type: 'deal' });
    const other = await scene.asset({ partner: 'other', state: 'open', arc_display_type: 'deal' });
    const event = await scene.event(its, {
      event_attributes: { arc_display_type: 'moved' },
      asset_attributes: { secret: 'new price', state: 'moved' },
    });
    const subject = await exchangeSubjects(owner, partner);
    await created(A_PARTNER_SEES_ONE_LABEL, { subject });
    const read = await partner.get(`/archivist/v2/${its}`);
    expect(read.json['attributes']).toEqual({ state: 'moved' });
    expect(await statusOf(partner, `/archivist/v2/${other}`)).toBe(404);
    const past = await partner.get(`/archivist/v2/${its}?at_time=${new Date().toISOString()}`);
    expect(past.json['attributes']).toEqual({ state: 'moved' });
    expect(await listed(partner, '/archivist/v2/assets')).toEqual([its]);
    expect((await partner.get('/archivist/v2/assets')).headers.get('x-total-count')).toBe('1');
    for (const [filter, found] of [
      ['attributes.secret=new price', []],
      ['attributes.secret=*', []],
      ['attributes.secret!=*', [its]],
      ['attributes.secret!=new price', [its]],
      ['attributes.state=moved', [its]],
    ] as const)
      expect([filter, await listed(partner, `/archivist/v2/assets?${encodeFilter(filter)}`)]).toEqual([filter, found]);
    expect(await listed(partner, `/archivist/v2/${its}/events`, 'events')).toEqual([]);
    for (const path of [event, `${event}/receipt`]) expect(await statusOf(partner, `/archivist/v2/${path}`)).toBe(404);
  });

  it('writes nothing there, and sees nothing new once it is no subject any more', async () => {
    const partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const subject = await exchangeSubjects(owner, partner);
    const asset = await scene.asset({ partner: 'writer', arc_display_type: 'shared' });
    const id = await scene.policy('shared', {
      subjects: [subject],
      behaviours: ['*'],
      asset_attributes_read: ['*'],
      asset_attributes_write: ['*'],
      event_arc_display_type_read: ['*'],
      event_arc_display_type_write: ['*'],
    });
    expect(await statusOf(partner, `/archivist/v2/${asset}`)).toBe(200);
    const note = recorded({ event_attributes: { arc_display_type: 'note' } });
    expect((await partner.post(`/archivist/v2/${asset}/events`, note)).status).toBe(404);
    expect((await scene.change(partner, `/archivist/iam/v1/${id}`, { display_name: 'x' })).status).toBe(404);
    await scene.remove(owner, `/archivist/iam/v1/${subject}`);
    expect(await statusOf(partner, `/archivist/v2/${await scene.event(asset, note)}`)).toBe(404);
    await scene.remove(owner, `/archivist/iam/v1/${id}?withdraw=true`);
    expect(await statusOf(partner, `/archivist/v2/${asset}`)).toBe(404);
  });
});

describe('an application records only', () => {
  it('its kind of event on those assets, and reads back what it recorded and nothing else', async () => {
    const transcriber = await scene.client({});
    const asset = await scene.asset({ arc_display_type: 'call', caller: 'x' });
    await scene.event(asset, { event_attributes: { arc_display_type: 'transcript' } });
    await created(AN_APPLICATION_RECORDS_ONLY, { 'client id': transcriber.clientId });
    const post = (body: Record<string, unknown>) => transcriber.post(`/archivist/v2/${asset}/events`, recorded(body));
    const own = await post({ event_attributes: { arc_display_type: 'transcript' } });
    expect(own.status).toBe(200);
    const statuses = [
      await post({ event_attributes: { arc_display_type: 'note' } }),
      await post({ event_attributes: {} }),
      await post({ event_attributes: { arc_display_type: 'transcript' }, asset_attributes: { caller: 'y' } }),
      await post({ operation: 'StopTracking', behaviour: 'Builtin' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect(await statusOf(transcriber, `/archivist/v2/${asset}`)).toBe(404);
    expect(await listed(transcriber, '/archivist/v2/assets')).toEqual([]);
    for (const place of [asset, 'assets/-'])
      expect(await listed(transcriber, `/archivist/v2/${place}/events`, 'events')).toEqual([own.json['identity']]);
  });
});

describe('a reader of some attributes', () => {
  it('gets no proof of an event of which it sees a part', async () => {
    const reader = await scene.client({});
    const asset = await scene.asset({ arc_display_type: 'part', open: 'a', secret: 'b' });
    const event = await scene.event(asset, {
      event_attributes: template('vcon://part', { arc_display_type: 'changed' }),
      asset_attributes: { open: 'c', secret: 'd' },
    });
    await scene.policy('part', {
      user_attributes: [{ or: [`subject=${reader.clientId}`] }],
      asset_attributes_read: ['open'],
      event_arc_display_type_read: ['changed'],
    });
    await confirmed(owner, event);
    const read = await reader.get(`/archivist/v2/${event}`);
    expect(read.json['asset_attributes']).toEqual({ open: 'c' });
    for (const proof of ['receipt', 'signed-statement', 'transparent-statement'])
      expect([proof, await statusOf(reader, `/archivist/v2/${event}/${proof}`)]).toEqual([proof, 403]);
    for (const [filter, found] of [
      ['asset_attributes.secret=d', []],
      ['asset_attributes.secret!=*', [event]],
      ['asset_attributes.open=c', [event]],
      ['asset.attributes.secret=d', []],
      ['any=asset.attributes.secret=d', []],
      ['any=asset_attributes.secret=d', []],
      ['any=asset.attributes.open=c', [event]],
    ] as const)
      expect(await listed(reader, `/archivist/v2/assets/-/events?${encodeFilter(filter)}`, 'events')).toEqual(found);
  });
});

/** The operator belongs to the parameter's name, as `curl` and browsers send it. */
function encodeFilter(filter: string): string {
  const at = filter.indexOf('=');
  return `${encodeURIComponent(filter.slice(0, at))}=${encodeURIComponent(filter.slice(at + 1))}`;
}
