import { afterAll, beforeAll, expect, it } from 'vitest';
import { visibleAssets } from '../../src/archivist/assets/asset-visibility-store.js';
import { visibleAssetEvents } from '../../src/archivist/events/asset-event-visibility-store.js';
import { readAccess } from '../../src/iam/access/read-access.js';
import { renderWhere } from '../../src/platform/listing/condition.js';
import { exchangeSubjects, listed, openScene, type Scene } from './policy-scene.js';
import type { Client } from './test-service.js';

let scene: Scene;
let owner: Client;
let partner: Client;
let subject: string;
beforeAll(async () => {
  scene = await openScene();
  ({ owner } = scene);
  partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
  subject = await exchangeSubjects(owner, partner);
});
afterAll(() => scene?.close());

const permission = (attributes: string[], kinds: string[]) => ({
  subjects: [subject],
  asset_attributes_read: attributes,
  event_arc_display_type_read: kinds,
});

async function share(type: string): Promise<{ asset: string; note: string; policy: string; path: string }> {
  const asset = await scene.asset({ arc_display_type: type, state: 'open', site: 'north' });
  const note = await scene.event(asset, { event_attributes: { arc_display_type: 'note' } });
  const policy = await scene.policy(type, permission(['state'], ['note']));
  return { asset, note, policy, path: `/archivist/iam/v1/${policy}` };
}

async function grantsOf(policy: string): Promise<Record<string, unknown>[]> {
  const values = [policy.slice('access_policies/'.length)];
  return scene.service.parts.database.inTransaction('system', (tx) =>
    tx.query('SELECT * FROM archivist.past_grant WHERE policy_id = $1', values),
  );
}

it('a policy that shows the same again and again keeps one past grant, with the latest time', async () => {
  const { asset, policy, path } = await share('Again and again');
  for (let round = 0; round < 5; round += 1) {
    await scene.event(asset, {
      event_attributes: { arc_display_type: 'note' },
      asset_attributes: { state: `${round}` },
    });
    await scene.change(owner, path, { access_permissions: [] });
    await scene.change(owner, path, { access_permissions: [permission(['state', 'state'], ['note'])] });
    await scene.change(owner, path, {
      access_permissions: [{ ...permission(['state'], ['note']), behaviours: ['RecordEvidence'] }],
    });
  }
  await scene.change(owner, path, { access_permissions: [] });
  expect(await grantsOf(policy)).toHaveLength(1);
  await scene.event(asset, { asset_attributes: { state: 'later' } });
  expect((await partner.get(`/archivist/v2/${asset}`)).json['attributes']).toEqual({ state: '4' });
});

it('a policy that shows no asset keeps no past grant', async () => {
  const policy = await scene.policy('Never recorded', permission(['state'], ['note']));
  await scene.change(owner, `/archivist/iam/v1/${policy}`, { access_permissions: [] });
  expect(await grantsOf(policy)).toEqual([]);
});

it('lists have a few bound values, and one part, for any number of past grants', async () => {
  const { asset, note, policy, path } = await share('Many');
  await scene.change(owner, path, { access_permissions: [] });
  const [grant] = await grantsOf(policy);
  const { tenant_id: tenantId, grant_id: grantId, reader_tenant_id: reader } = grant as Record<string, string>;
  await scene.asOwner(
    `INSERT INTO archivist.past_grant (tenant_id, grant_id, reader_tenant_id, subject_id, policy_id, permission, digest)
      SELECT tenant_id, md5('many' || n)::uuid, reader_tenant_id, subject_id, policy_id,
             jsonb_set(permission, '{event_arc_display_type_read}', jsonb_build_array('kind ' || n)), 'many' || n
        FROM archivist.past_grant, generate_series(1, 1100) n WHERE grant_id = '${grantId}'`,
    `INSERT INTO archivist.past_grant_asset (tenant_id, asset_id, grant_id, until)
      SELECT tenant_id, asset_id, md5('many' || n)::uuid, until
        FROM archivist.past_grant_asset, generate_series(1, 1100) n WHERE grant_id = '${grantId}'`,
  );
  expect(await listed(partner, '/archivist/v2/assets')).toContain(asset);
  expect(await listed(partner, '/archivist/v2/assets?attributes.state=open')).toContain(asset);
  expect(await listed(partner, '/archivist/v2/assets/-/events', 'events')).toContain(note);
  const principal = {
    tenantId: reader!,
    issuer: '',
    subject: '',
    displayName: '',
    email: '',
    roles: ['OWNER'],
    claims: {},
  };
  const access = await scene.service.parts.database.inTransaction({ read: [reader!], write: [] }, (tx) =>
    readAccess(tx, principal),
  );
  expect(access.past.length).toBeGreaterThan(1_100);
  for (const conditions of [visibleAssets(access, tenantId!), visibleAssetEvents(access, tenantId!)])
    expect(renderWhere(conditions).values.length).toBeLessThan(12);
  // The other organisation could read more views than the limit: a further end must say that it withdraws.
  const further = await share('Further');
  const refused = await scene.remove(owner, further.path);
  expect([refused.status, refused.json]).toEqual([
    400,
    { error: 'bad_request', description: expect.stringMatching(/a weight above 1024\. Add \?withdraw=true/) },
  ]);
  expect((await partner.get(`/archivist/v2/${further.asset}`)).status).toBe(200);
  expect((await scene.remove(owner, `${further.path}?withdraw=true`)).status).toBe(200);
  expect((await partner.get(`/archivist/v2/${further.asset}`)).status).toBe(404);
  expect((await scene.remove(owner, `${path}?withdraw=true`)).status).toBe(200);
  const last = await share('Last');
  expect((await scene.remove(owner, last.path)).status).toBe(200);
  expect((await partner.get(`/archivist/v2/${last.asset}`)).status).toBe(200);
});
