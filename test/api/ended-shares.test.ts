import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdLock } from '../support/hold-lock.js';
import { serverUrl } from '../support/prerequisites.js';
import { exchangeSubjects, listed, openScene, recorded, type Scene } from './policy-scene.js';
import type { Client } from './test-service.js';

let scene: Scene;
let owner: Client;
let partner: Client;
let stranger: Client;
let subject: string;
beforeAll(async () => {
  scene = await openScene();
  ({ owner } = scene);
  partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
  stranger = await scene.client({ roles: ['OWNER'], otherTenancy: true });
  subject = await exchangeSubjects(owner, partner);
  await exchangeSubjects(owner, stranger);
});
afterAll(() => scene?.close());

/** What a change of any tenancy's shares waits for. */
const SHARES_LOCK = `SELECT pg_advisory_xact_lock(7364924, ('x' || left(tenant_id::text, 8))::bit(32)::int) FROM archivist.tenancy`;

interface Share {
  readonly type: string;
  readonly asset: string;
  readonly note: string;
  readonly policy: string;
}

/** An asset with one event, and a policy that shows a part of it to the partner. */
async function share(type: string, known = subject): Promise<Share> {
  const asset = await scene.asset({ arc_display_type: type, state: 'open', secret: 'price' });
  const note = await scene.event(asset, noted({ state: 'agreed' }));
  const policy = await scene.policy(type, permission(known));
  expect(await seen(partner, asset)).toEqual({ state: 'agreed' });
  return { type, asset, note, policy: `/archivist/iam/v1/${policy}` };
}

const permission = (known: string) => ({
  subjects: [known],
  asset_attributes_read: ['state'],
  event_arc_display_type_read: ['note'],
});
const noted = (changes: Record<string, unknown> = {}) => ({
  event_attributes: { arc_display_type: 'note' },
  asset_attributes: changes,
});
const read = (client: Client, identity: string) => client.get(`/archivist/v2/${identity}`);
const seen = async (client: Client, asset: string) => (await read(client, asset)).json['attributes'];
const assetsOf = (client: Client, asset: string, filter: string) =>
  listed(client, `/archivist/v2/assets?tracked=ANY&${filter}`).then((found) => found.includes(asset));

/** After its end, the partner reads what the share showed before, and nothing newer, by any way. */
async function keepsWhatItShowed({ asset, note }: Share): Promise<void> {
  const before = (await read(partner, asset)).json;
  expect(before['attributes']).toEqual({ state: 'agreed' });
  const later = await scene.event(asset, noted({ state: 'broken', secret: 'new price' }));
  await scene.event(asset, { operation: 'StopTracking', behaviour: 'Builtin' });
  const { json } = await read(partner, asset);
  expect([json['attributes'], json['tracked'], json['at_time']]).toEqual([
    { state: 'agreed' },
    'TRACKED',
    before['at_time'],
  ]);
  expect(Date.parse(String(json['at_time']))).toBeLessThanOrEqual(Date.now());
  expect((await read(partner, `${asset}?at_time=${new Date().toISOString()}`)).json['attributes']).toEqual({
    state: 'agreed',
  });
  expect(await listed(partner, `/archivist/v2/${asset}/events`, 'events')).toEqual([note]);
  expect((await read(partner, note)).json).toMatchObject({ asset_attributes: { state: 'agreed' } });
  for (const path of [later, `${later}/receipt`]) expect((await read(partner, path)).status).toBe(404);
  expect(await assetsOf(partner, asset, 'attributes.state=agreed')).toBe(true);
  for (const filter of ['attributes.state=broken', 'attributes.secret=*', 'tracked=NOT_TRACKED'])
    expect(await assetsOf(partner, asset, filter)).toBe(false);
  const events = '/archivist/v2/assets/-/events?page_size=100';
  const listedThere = await listed(partner, events, 'events');
  expect([listedThere.includes(note), listedThere.includes(later)]).toEqual([true, false]);
  expect(await listed(partner, `${events}&asset.attributes.state=broken`, 'events')).not.toContain(note);
  expect((await read(stranger, asset)).status).toBe(404);
  expect((await partner.post(`/archivist/v2/${asset}/events`, recorded(noted()))).status).toBe(404);
}

async function lastEntry(): Promise<Record<string, unknown>> {
  const { json } = await owner.get('/archivist/v1/security_events?page_size=1');
  return (json['security_events'] as { attributes: Record<string, unknown> }[])[0]!.attributes;
}

describe('a share that ends keeps what it showed, and shows nothing newer', () => {
  it('if the policy is deleted', async () => {
    const shared = await share('Deleted');
    expect((await scene.remove(owner, shared.policy)).status).toBe(200);
    await keepsWhatItShowed(shared);
    expect((await read(partner, `${shared.note}`)).status).toBe(200);
  });

  it('in pages of a few megabytes, however large the past states of short assets are', async () => {
    const LARGE = 300_000;
    const COUNT = 12;
    const type = 'Large once';
    const assets: string[] = [];
    for (let each = 0; each < COUNT; each += 1)
      assets.push(await scene.asset({ arc_display_type: type, state: `${each} ${'x'.repeat(LARGE)}` }));
    const policy = await scene.policy(type, permission(subject));
    expect((await scene.remove(owner, `/archivist/iam/v1/${policy}`)).status).toBe(200);
    for (const asset of assets) await scene.event(asset, noted({ state: 'short' }));
    const listedThere: string[] = [];
    let pages = 0;
    for (let token = '', more = true; more; pages += 1) {
      const page = await partner.get(`/archivist/v2/assets?page_size=100&page_token=${encodeURIComponent(token)}`);
      expect([page.status, page.bytes.length < 4 * 1024 * 1024]).toEqual([200, true]);
      const found = page.json['assets'] as { identity: string; attributes: { state: string } }[];
      for (const { identity, attributes } of found.filter((each) => assets.includes(each.identity))) {
        listedThere.push(identity);
        expect([identity, attributes.state.length > LARGE]).toEqual([identity, true]);
      }
      token = String(page.json['next_page_token']);
      more = token !== '';
    }
    expect(listedThere).toEqual(assets.toReversed());
    expect(pages).toBeGreaterThan(1);
  });

  it('if the policy names the organisation no longer', async () => {
    const shared = await share('Unnamed');
    await scene.change(owner, shared.policy, { access_permissions: [] });
    await keepsWhatItShowed(shared);
  });

  it('if the policy matches other assets', async () => {
    const shared = await share('Elsewhere');
    await scene.change(owner, shared.policy, { filters: [{ or: ['attributes.arc_display_type=Another'] }] });
    await keepsWhatItShowed(shared);
  });

  it('if the attributes of the asset change so that the policy no longer matches', async () => {
    const shared = await share('Moved on');
    const leaving = await scene.event(shared.asset, noted({ arc_display_type: 'Gone', state: 'left' }));
    expect((await read(partner, leaving)).status).toBe(404);
    await keepsWhatItShowed(shared);
  });

  it.skipIf(!serverUrl)('also if such an event waits while the policy is deleted', async () => {
    const kept = await share('Waiting');
    const lock = await holdLock(scene.environment['DATABASE_URL']!, SHARES_LOCK);
    const removed = scene.remove(owner, kept.policy);
    await expect.poll(() => lock.waiting()).toBe(1);
    const changed = scene.event(kept.asset, noted({ arc_display_type: 'Something else', state: 'secret' }));
    await expect.poll(() => lock.waiting()).toBe(2);
    await lock.release();
    expect((await removed).status).toBe(200);
    await changed;
    await keepsWhatItShowed(kept);
  });

  it('if the subject is removed, or gets other keys', async () => {
    const removed = await exchangeSubjects(owner, partner);
    const one = await share('Removed', removed);
    expect((await scene.remove(owner, `/archivist/iam/v1/${removed}`)).status).toBe(200);
    await keepsWhatItShowed(one);
    const changed = await exchangeSubjects(owner, partner);
    const other = await share('Other keys', changed);
    await scene.change(owner, `/archivist/iam/v1/${changed}`, { wallet_pub_key: [], tessera_pub_key: [] });
    await keepsWhatItShowed(other);
  });

  it('and shows everything again when it is granted again', async () => {
    const { type, asset, policy } = await share('Again');
    await scene.remove(owner, policy);
    const between = await scene.event(asset, noted({ state: 'between' }));
    expect(await seen(partner, asset)).toEqual({ state: 'agreed' });
    await scene.policy(type, permission(subject));
    expect(await seen(partner, asset)).toEqual({ state: 'between' });
    expect((await read(partner, between)).status).toBe(200);
  });

  it('beside what another policy shows now', async () => {
    const { type, asset, policy } = await share('Beside');
    await scene.policy(type, { subjects: [subject], asset_attributes_read: ['secret'] });
    await scene.remove(owner, policy);
    await scene.event(asset, noted({ state: 'broken', secret: 'new price' }));
    expect(await seen(partner, asset)).toEqual({ state: 'agreed', secret: 'new price' });
    expect(await assetsOf(partner, asset, 'attributes.state=agreed&attributes.secret=new%20price')).toBe(true);
    expect(await assetsOf(partner, asset, 'attributes.state=broken')).toBe(false);
  });
});

it('a share never tells whether the asset is compliant, because the compliance policies are not shared', async () => {
  const { type, asset, policy } = await share('Checked');
  const compliance = (by: Client) => by.get(`/archivist/v1/compliance/${asset}`);
  const { status } = await owner.post('/archivist/v1/compliance_policies', {
    compliance_type: 'COMPLIANCE_RICHNESS',
    display_name: 'The price is known',
    asset_filter: [{ or: [`attributes.arc_display_type=${type}`] }],
    richness_assertions: [{ or: ['secret=price'] }],
  });
  expect(status).toBe(200);
  expect((await compliance(owner)).json['compliance']).toHaveLength(1);
  expect((await compliance(partner)).status).toBe(404);
  await scene.remove(owner, policy);
  expect((await compliance(partner)).status).toBe(404);
});

describe('?withdraw=true', () => {
  it('ends the past as well when a policy is deleted, and the security audit says so', async () => {
    const { asset, note, policy } = await share('Withdrawn');
    expect((await scene.remove(owner, `${policy}?withdraw=true`)).status).toBe(200);
    for (const path of [asset, note]) expect((await read(partner, path)).status).toBe(404);
    expect(await lastEntry()).toMatchObject({ action: 'access_policy.delete', details: { withdraw: 'true' } });
  });

  it('also withdraws what a policy shows that was deleted before', async () => {
    const { asset, policy } = await share('Late');
    await scene.remove(owner, policy);
    expect((await read(partner, asset)).status).toBe(200);
    expect((await scene.remove(stranger, `${policy}?withdraw=true`)).status).toBe(404);
    expect((await scene.remove(owner, `${policy}?withdraw=true`)).status).toBe(200);
    expect((await read(partner, asset)).status).toBe(404);
    expect((await scene.remove(owner, `${policy}?withdraw=true`)).status).toBe(404);
  });

  it('ends the past of earlier versions when a policy is changed', async () => {
    const { asset, policy } = await share('Changed');
    await scene.change(owner, policy, { access_permissions: [] });
    expect((await read(partner, asset)).status).toBe(200);
    expect((await scene.change(owner, `${policy}?withdraw=true`, {})).status).toBe(200);
    expect((await read(partner, asset)).status).toBe(404);
    expect(await lastEntry()).toMatchObject({ action: 'access_policy.update', details: { withdraw: 'true' } });
  });

  it('ends everything that was shared with an organisation when its subject is removed', async () => {
    const third = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const known = await exchangeSubjects(owner, third);
    const asset = await scene.asset({ arc_display_type: 'Third', state: 'open' });
    const policy = await scene.policy('Third', permission(known));
    await scene.remove(owner, `/archivist/iam/v1/${policy}`);
    expect(await seen(third, asset)).toEqual({ state: 'open' });
    await scene.remove(owner, `/archivist/iam/v1/${known}?withdraw=true`);
    expect((await read(third, asset)).status).toBe(404);
    expect(await lastEntry()).toMatchObject({ action: 'subject.delete', details: { withdraw: 'true' } });
  });

  it('ends also what an event ends at the same moment, by attributes that the policy no longer matches', async () => {
    for (let count = 0; count < 10; count += 1) {
      const { asset, policy } = await share(`At once ${count}`);
      const [, removed] = await Promise.all([
        scene.event(asset, noted({ arc_display_type: 'Something else' })),
        scene.remove(owner, `${policy}?withdraw=true`),
      ]);
      expect([removed.status, (await read(partner, asset)).status]).toEqual([200, 404]);
    }
  });

  it('ends also what the deletion of a policy ends at the same moment', async () => {
    for (let count = 0; count < 10; count += 1) {
      const third = await scene.client({ roles: ['OWNER'], otherTenancy: true });
      const known = await exchangeSubjects(owner, third);
      const type = `Twice at once ${count}`;
      const asset = await scene.asset({ arc_display_type: type, state: 'open' });
      const policy = await scene.policy(type, permission(known));
      expect(await seen(third, asset)).toEqual({ state: 'open' });
      const paths = [`/archivist/iam/v1/${policy}`, `/archivist/iam/v1/${known}?withdraw=true`];
      const removed = await Promise.all(paths.map((path) => scene.remove(owner, path)));
      expect([...removed.map(({ status }) => status), (await read(third, asset)).status]).toEqual([200, 200, 404]);
    }
  });

  it('takes no other value', async () => {
    const { policy } = await share('Refused');
    const { status, json } = await scene.remove(owner, `${policy}?withdraw=yes`);
    expect([status, json['description']]).toEqual([400, expect.stringMatching(/^withdraw: /)]);
  });
});

it("a policy for the tenancy's own people ends at once", async () => {
  const app = await scene.client({});
  const asset = await scene.asset({ arc_display_type: 'Own', state: 'open' });
  const policy = await scene.policy('Own', {
    user_attributes: [{ or: [`subject=${app.clientId}`] }],
    asset_attributes_read: ['state'],
  });
  expect((await read(app, asset)).status).toBe(200);
  await scene.remove(owner, `/archivist/iam/v1/${policy}`);
  expect((await read(app, asset)).status).toBe(404);
});
