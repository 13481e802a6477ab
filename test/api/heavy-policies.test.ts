import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visibleAssets } from '../../src/archivist/assets/asset-visibility-store.js';
import { MOST_NAMED } from '../../src/iam/access/policy-limits.js';
import { type Access, readAccess } from '../../src/iam/access/read-access.js';
import type { Principal } from '../../src/platform/http/principal.js';
import { renderWhere } from '../../src/platform/listing/condition.js';
import { exchangeSubjects, forClient, listed, made, openScene, POLICIES, type Scene } from './policy-scene.js';
import type { Client } from './test-service.js';

const ASSETS = '/archivist/v2/assets';
const EVENTS = '/archivist/v2/assets/-/events';
const ENTRIES = 128;
const READS = { asset_attributes_read: ['*'], event_arc_display_type_read: ['note'] };

let scene: Scene;
let owner: Client;
let app: Client;
let partner: Client;
/** How the owner knows the partner. */
let subject: string;
beforeAll(async () => {
  scene = await openScene();
  ({ owner } = scene);
  app = await scene.client({});
  partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
  subject = await exchangeSubjects(owner, partner);
});
afterAll(() => scene?.close());

/** Two lists of 64 entries each, that no asset meets. */
const largeFilters = (name: string) =>
  ['one', 'two'].map((list) => ({
    or: Array.from({ length: ENTRIES / 2 }, (_, place) => `attributes.${name}=${list} ${place}`),
  }));

/** As if these policies had been saved before there was a limit: copies of a policy with large filters of their own. */
async function saveBefore(policy: string, copies: number): Promise<void> {
  const id = policy.slice('access_policies/'.length);
  await scene.asOwner(
    `INSERT INTO archivist.access_policy
        (tenant_id, policy_id, version, display_name, description, filters, access_permissions, created_at)
      SELECT p.tenant_id, gen_random_uuid(), 1, 'Copy of ${id}', '',
             replace('${JSON.stringify(largeFilters('copied'))}', 'copied', 'n' || (n % 7) || '=' || n)::jsonb,
             p.access_permissions, p.created_at + n * interval '1 second'
        FROM archivist.access_policy p, generate_series(1, ${copies}) n WHERE p.policy_id = '${id}'`,
    `INSERT INTO archivist.access_policy_principal (tenant_id, principal, policy_id)
      SELECT p.tenant_id, n.principal, p.policy_id
        FROM archivist.access_policy p JOIN archivist.access_policy_principal n ON n.policy_id = '${id}'
       WHERE p.display_name = 'Copy of ${id}'`,
  );
}

async function tenancyOf(client: Client): Promise<string> {
  const { json } = await client.get(`${POLICIES}?page_size=1`);
  return String((json['access_policies'] as { tenant: string }[])[0]!.tenant).slice('tenant/'.length);
}

function accessOf(tenantId: string, more: Partial<Principal>): Promise<Access> {
  const principal = { tenantId, issuer: '', subject: '', displayName: '', email: '', roles: [], claims: {}, ...more };
  return scene.service.parts.database.inTransaction({ read: [tenantId], write: [] }, (tx) => readAccess(tx, principal));
}

describe('with 2,000 large policies that were saved before there was a limit', () => {
  let asset: string;
  let note: string;
  beforeAll(async () => {
    asset = await scene.asset({ arc_display_type: 'Lamp', site: 'north' });
    note = await scene.event(asset, { event_attributes: { arc_display_type: 'note' } });
    const policy = await scene.policy('Lamp', { ...forClient(app, READS), subjects: [subject] });
    await saveBefore(policy, 2_000);
  }, 60_000);

  it('the oldest count up to the limit, in every list, also with many filters, for people and for partners', async () => {
    const filters = Array.from({ length: 30 }, (_, place) => `attributes.absent${place}!=*`).join('&');
    for (const client of [app, partner]) {
      for (const path of [ASSETS, `${ASSETS}?attributes.site=north`, `${ASSETS}?${filters}`])
        expect(await listed(client, path)).toEqual([asset]);
      for (const path of [EVENTS, `${EVENTS}?asset.attributes.site=north`])
        expect(await listed(client, path, 'events')).toEqual([note]);
      expect((await client.get(`/archivist/v2/${asset}`)).status).toBe(200);
    }
  });

  it('a statement has a few values, however many entries count', async () => {
    const tenantId = await tenancyOf(owner);
    const access = await accessOf(tenantId, { subject: app.clientId });
    const tests = access.grants.reduce((sum, { filter }) => sum + filter.flat().length, 0);
    expect([tests > MOST_NAMED / 2, tests <= MOST_NAMED]).toEqual([true, true]);
    expect(access.skipped).toBeGreaterThan(1_900);
    const { sql, values } = renderWhere(visibleAssets(access, tenantId));
    expect([values.length < 20, sql.length < 4_000]).toEqual([true, true]);
  });

  it('the policies of another partner still count', async () => {
    const light = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const known = await exchangeSubjects(light, partner);
    const shown = await scene.asset({ arc_display_type: 'Lamp' }, light);
    await scene.policy('Lamp', { ...READS, subjects: [known] }, light);
    expect((await listed(partner, ASSETS)).sort()).toEqual([asset, shown].sort());
  });

  it('a change that adds weight is refused, and one that takes something away is not', async () => {
    const { json } = await owner.get(`${POLICIES}?page_size=1`);
    const [policy] = json['access_policies'] as { identity: string; filters: unknown[] }[];
    const path = `/archivist/iam/v1/${policy!.identity}`;
    const [first, second] = policy!.filters as { or: string[] }[];
    const more = await scene.change(owner, path, {
      filters: [first, second, { or: ['attributes.more=yes'] }].reverse(),
    });
    expect([more.status, more.json['error']]).toEqual([400, 'bad_request']);
    const groups = ['group:one', 'group:two'].map((name) => ({ user_attributes: [{ or: [name] }] }));
    expect(await scene.change(owner, path, { access_permissions: groups })).toMatchObject({
      status: 400,
      json: {
        description: expect.stringMatching(
          /^With this one, the access policies of this tenancy weigh \d+; 32768 is the limit\. Give them fewer filters/,
        ),
      },
    });
    expect((await scene.change(owner, path, { filters: [first] })).status).toBe(200);
    expect((await scene.change(owner, path, { access_permissions: [] })).status).toBe(200);
  });
});

describe('the weight of the policies that name one principal', () => {
  it('is limited when they are saved, and the refusal says what to change', async () => {
    const heavy = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const policy = (name: string) => ({
      display_name: name,
      filters: largeFilters(name),
      access_permissions: [{ ...READS, user_attributes: [{ or: [`group:${name.slice(0, 1)}`] }] }],
    });
    const saved: string[] = [];
    let answer = await heavy.post(POLICIES, policy('a'));
    for (; answer.status === 200 && saved.length < 100; answer = await heavy.post(POLICIES, policy(`a${saved.length}`)))
      saved.push(made(answer));
    // Each weighs 128 for its entries, 1 for its permission and 4 for its text.
    expect(saved).toHaveLength(Math.floor(MOST_NAMED / (ENTRIES + 5)));
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        error: 'bad_request',
        description: expect.stringMatching(
          /^access_permissions: with this one, the access policies that name group:a weigh \d+; 4096 is the limit\. Give them fewer filters/,
        ),
      },
    ]);
    expect((await heavy.post(POLICIES, policy('b'))).status).toBe(200);
    expect((await scene.remove(heavy, `/archivist/iam/v1/${saved[0]}`)).status).toBe(200);
    expect((await heavy.post(POLICIES, policy('a'))).status).toBe(200);
  });

  it('may be too much with one that was saved before: it counts as ignored, although none counts', async () => {
    const client = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const policy = await scene.policy('Heavy', forClient(client, READS), client);
    const tenantId = await tenancyOf(client);
    const access = async () => {
      const { grants, skipped } = await accessOf(tenantId, { subject: client.clientId });
      return [grants.length, skipped];
    };
    expect(await access()).toEqual([1, 0]);
    await scene.asOwner(
      `UPDATE archivist.access_policy p SET access_permissions =
         (SELECT jsonb_agg(p.access_permissions -> (n - n)) FROM generate_series(1, ${MOST_NAMED}) n)
        WHERE p.policy_id = '${policy.slice('access_policies/'.length)}'`,
    );
    expect(await access()).toEqual([0, 1]);
  });

  it('counts an entry with != or a dotted name 16 times, and every entry beside it', async () => {
    const weighed = async (entries: string[]) => {
      const filters = entries.map((entry) => ({ or: [entry] }));
      const body = { display_name: 'Weighed', filters, access_permissions: [] };
      const policyId = made(await partner.post(POLICIES, body)).slice('access_policies/'.length);
      return scene.service.parts.database.inTransaction('system', async (tx) => {
        const rows = await tx.query('SELECT weight FROM archivist.access_policy WHERE policy_id = $1', [policyId]);
        return rows[0]!['weight'];
      });
    };
    expect(await weighed([])).toBe(1);
    expect(await weighed(['attributes.a=b.c', 'attributes.b=*', 'attributes.c:d.e.f!'])).toBe(4);
    expect(await weighed(['attributes.a=b', 'attributes.b != c'])).toBe(33);
    expect(await weighed(['attributes.a=b', 'attributes.b!:c'])).toBe(33);
    expect(await weighed(['attributes.a=b', 'attributes.b.c=d'])).toBe(33);
  });
});
