import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Asset } from '../../../src/archivist/assets/asset.js';
import { assetConditions } from '../../../src/archivist/assets/asset-filter-store.js';
import { insertAssets, listAssets } from '../../../src/archivist/assets/asset-store.js';
import {
  narrowedAssets,
  readableAttributes,
  visibleAssets,
} from '../../../src/archivist/assets/asset-visibility-store.js';
import { lookAtAsset, shownAsset } from '../../../src/archivist/assets/see-asset.js';
import type { AssetEvent } from '../../../src/archivist/events/asset-event.js';
import { assetEventConditions } from '../../../src/archivist/events/asset-event-filter-store.js';
import { insertAssetEvents, listAssetEvents } from '../../../src/archivist/events/asset-event-store.js';
import {
  narrowedAssetEvents,
  readableChanges,
  visibleAssetEvents,
} from '../../../src/archivist/events/asset-event-visibility-store.js';
import { readableEvents } from '../../../src/archivist/events/read-asset-events.js';
import { type AttributeTest, parseAttributeParameter } from '../../../src/filter/attribute-filter.js';
import { matchesAttributeTest } from '../../../src/filter/matches.js';
import { createAccessPolicySchema, type PolicyContent } from '../../../src/iam/access/access-policy.js';
import { insertAccessPolicy, setPolicyPrincipals } from '../../../src/iam/access/access-policy-store.js';
import { type Access, openAccess, visibleTenancies } from '../../../src/iam/access/open-access.js';
import { readSubject, readUserAttribute } from '../../../src/iam/access/principal-key.js';
import { insertSubject } from '../../../src/iam/subjects/subject-store.js';
import { insertTenancy } from '../../../src/iam/tenancies/tenancy-store.js';
import type { Principal } from '../../../src/platform/http/principal.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { engines, type TestDatabase } from '../../support/engines.js';

const ISSUER = 'https://here/appidpv1';
const NOW = new Date('2026-11-20T10:00:00Z');
const ASSETS = 6;

// Few words that meet often.
const NAMES = ['arc_display_type', 'colour', 'site', 'site.floor', 'secret'];
const VALUES = ['red', 'north', 'Lamp', '["red"]', ''];
const KINDS = ['Inspection', 'Repair', 'red'];
const APPS = ['app-1', 'app-2'];

const anyValue = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(...VALUES) },
  fc.constantFrom<unknown>(['red'], { floor: 'north' }, {}, [], { floor: '' }),
);
const anyAttributes = fc.dictionary(fc.constantFrom(...NAMES), anyValue, { maxKeys: 4 });
const anyEntry = fc
  .tuple(fc.constantFrom(...NAMES), fc.boolean(), fc.constantFrom(...VALUES, '*'))
  .map(([name, negated, value]) => ({ name, operator: negated ? '!=' : '=', value }));
const anyFilters = fc.array(
  fc
    .array(anyEntry, { minLength: 1, maxLength: 2 })
    .map((entries) => ({ or: entries.map(({ name, operator, value }) => `attributes.${name}${operator}${value}`) })),
  { maxLength: 2 },
);
const names = (from: readonly string[]) => fc.uniqueArray(fc.constantFrom(...from, '*'), { maxLength: 2 });
const anyPermission = fc.record({
  who: fc.constantFrom('app-1', 'app-2', 'keeper', 'person', 'group', 'guest', 'nobody'),
  asset_attributes_read: names([...NAMES, 'site']),
  include_attributes: names(NAMES),
  event_arc_display_type_read: names(KINDS),
});
const anyWorld = fc.record({
  shared: fc.boolean(),
  assets: fc.array(
    fc.record({ attributes: anyAttributes, creator: fc.constantFrom('boss', ...APPS), public: fc.boolean() }),
    { minLength: ASSETS, maxLength: ASSETS },
  ),
  events: fc.array(
    fc.record({
      asset: fc.nat(ASSETS - 1),
      by: fc.constantFrom('boss', ...APPS),
      kind: fc.option(fc.oneof(fc.constantFrom<unknown>(...KINDS), fc.constant<unknown>(['red']))),
      changes: anyAttributes,
    }),
    { maxLength: 8 },
  ),
  policies: fc.array(fc.record({ filters: anyFilters, permissions: fc.array(anyPermission, { maxLength: 3 }) }), {
    maxLength: 5,
  }),
  wanted: fc.array(anyEntry, { minLength: 1, maxLength: 3 }),
});
type World = typeof anyWorld extends fc.Arbitrary<infer Value> ? Value : never;

/** Two tenancies, the first with assets, events and policies. */
interface Built {
  readonly here: string;
  readonly there: string;
  readonly assets: readonly Asset[];
  readonly events: readonly AssetEvent[];
}

function principal(tenantId: string, subject: string, more: Partial<Principal> = {}): Principal {
  return { tenantId, issuer: ISSUER, subject, displayName: '', email: '', roles: [], claims: {}, ...more };
}

function principals({ here, there }: Built): Principal[] {
  return [
    principal(here, 'boss', { roles: ['OWNER'] }),
    principal(here, 'app-1'),
    principal(here, 'app-2', { claims: { role: 'keeper' } }),
    principal(here, 'person', { kind: 'member', email: 'P@example.com', groups: ['night'] }),
    principal(here, 'app-1', { kind: 'member', issuer: 'https://elsewhere' }),
    principal(there, 'boss', { roles: ['OWNER'] }),
    principal(there, 'app-1'),
  ];
}

function policyContent(policy: World['policies'][number], guest: string): PolicyContent {
  const named: Record<string, object> = {
    'app-1': { user_attributes: [{ or: ['subject=app-1'] }] },
    'app-2': { user_attributes: [{ or: ['subject=app-2', 'subject=x'] }, { or: ['jwt_role=keeper'] }] },
    keeper: { user_attributes: [{ or: ['jwt_role=keeper'] }] },
    person: { user_attributes: [{ or: ['email=p@EXAMPLE.com'] }] },
    group: { user_attributes: [{ or: ['group:night'] }], subjects: [`subjects/${guest}`] },
    guest: { subjects: [`subjects/${guest}`] },
    nobody: {},
  };
  return createAccessPolicySchema.parse({
    display_name: 'a policy',
    filters: policy.filters,
    access_permissions: policy.permissions.map(({ who, ...given }) => ({ ...named[who], ...given })),
  });
}

async function build(tx: Tx, world: World): Promise<Built> {
  const [here, there, guest] = [randomUUID(), randomUUID(), randomUUID()];
  for (const tenantId of [here, there])
    await insertTenancy(tx, {
      tenantId,
      kind: 'organisation',
      displayName: tenantId,
      verifiedDomain: '',
      walletAddress: `0x${tenantId}`,
      createdAt: NOW,
    });
  const keys = { walletPubKeys: [], tesseraPubKeys: [], createdAt: NOW };
  const subject = (tenantId: string, subjectId: string, other: string) =>
    insertSubject(tx, { tenantId, subjectId, displayName: 'other', walletAddresses: [`0x${other}`], ...keys });
  await subject(here, guest, there);
  if (world.shared) await subject(there, randomUUID(), here);
  const assets = world.assets.map((each) => newAsset(here, each));
  const events = world.events.map((each) => newEvent(assets[each.asset]!, each));
  await insertAssets(tx, assets);
  await insertAssetEvents(tx, events);
  for (const each of world.policies) {
    const content = policyContent(each, guest);
    const policy = { ...content, tenantId: here, policyId: randomUUID(), version: 1n, createdAt: NOW };
    await insertAccessPolicy(tx, policy);
    await setPolicyPrincipals(
      tx,
      policy,
      content.access_permissions.flatMap(({ subjects, user_attributes }) => [
        ...subjects.map(readSubject),
        ...user_attributes.flatMap(({ or }) => or.map(readUserAttribute)),
      ]),
    );
  }
  return { here, there, assets, events };
}

function newAsset(tenantId: string, { attributes, creator, public: isPublic }: World['assets'][number]): Asset {
  return {
    tenantId,
    assetId: randomUUID(),
    originTenantId: tenantId,
    newAssetEventId: randomUUID(),
    attributes,
    behaviours: [],
    proofMechanism: 'MERKLE_LOG',
    public: isPublic,
    tracked: true,
    owner: '',
    creatorIssuer: ISSUER,
    creatorSubject: creator,
    createdAt: NOW,
  };
}

function newEvent(asset: Asset, { by, kind, changes }: World['events'][number]): AssetEvent {
  const person = { issuer: ISSUER, subject: by, display_name: '', email: '' };
  return {
    tenantId: asset.tenantId,
    eventId: randomUUID(),
    assetId: asset.assetId,
    originTenantId: asset.tenantId,
    operation: 'Record',
    behaviour: 'RecordEvidence',
    eventAttributes: kind === null ? {} : { arc_display_type: kind },
    assetAttributes: changes,
    principalDeclared: person,
    principalAccepted: person,
    timestampDeclared: NOW.toISOString(),
    timestampAccepted: NOW.toISOString(),
    acceptedAt: NOW,
    fromAddress: '',
  };
}

async function listedAssets(tx: Tx, access: Access, filters: readonly [string, string][]): Promise<string[]> {
  const ids: string[] = [];
  for (const tenantId of visibleTenancies(access)) {
    const filtered = assetConditions(filters, readableAttributes(access, tenantId));
    const visible = visibleAssets(access, tenantId);
    const found = await listAssets(tx, [...visible, ...filtered], 100, 'newest');
    const narrowed = [...visible, ...(await narrowedAssets(tx, access, tenantId)), ...filtered];
    expect(await listAssets(tx, narrowed, 100, 'newest')).toEqual(found);
    ids.push(...found.map(({ assetId }) => assetId));
  }
  return ids.sort();
}

async function listedEvents(tx: Tx, access: Access, filters: readonly [string, string][]): Promise<string[]> {
  const ids: string[] = [];
  for (const tenantId of visibleTenancies(access)) {
    const attributes = { ofAsset: readableAttributes(access, tenantId), changed: readableChanges(access, tenantId) };
    const conditions = [...visibleAssetEvents(access, tenantId), ...assetEventConditions(filters, attributes)];
    const found = await listAssetEvents(tx, conditions, 100, 'newest');
    const narrowed = [...conditions, ...(await narrowedAssetEvents(tx, access, tenantId))];
    expect(await listAssetEvents(tx, narrowed, 100, 'newest')).toEqual(found);
    ids.push(...found.map(({ eventId }) => eventId));
  }
  return ids.sort();
}

async function compare(tx: Tx, built: Built, who: Principal, wanted: World['wanted']): Promise<void> {
  const access = await openAccess(tx, who);
  const seen: Asset[] = [];
  for (const { assetId } of built.assets) {
    const looked = await lookAtAsset(tx, access, assetId);
    if (looked?.view.visible) seen.push(shownAsset(looked));
  }
  const events = await readableEvents(tx, access, built.events);
  const assetIds = (of: readonly Asset[]) => of.map(({ assetId }) => assetId).sort();
  const eventIds = (of: readonly AssetEvent[]) => of.map(({ eventId }) => eventId).sort();
  expect(await listedAssets(tx, access, [])).toEqual(assetIds(seen));
  expect(await listedEvents(tx, access, [])).toEqual(eventIds(events));
  for (const { name, operator, value } of wanted) {
    const [parameter, test] = filterOf(name, operator, value);
    const passing = seen.filter((asset) => matchesAttributeTest(test, asset.attributes));
    expect(await listedAssets(tx, access, [[`attributes.${parameter}`, value]])).toEqual(assetIds(passing));
    const changed = events.filter((event) => matchesAttributeTest(test, event.assetAttributes));
    expect(await listedEvents(tx, access, [[`asset_attributes.${parameter}`, value]])).toEqual(eventIds(changed));
    const views = new Map(seen.map((asset) => [asset.assetId, asset.attributes]));
    const onAssets = events.filter(({ assetId }) => matchesAttributeTest(test, views.get(assetId) ?? {}));
    expect(await listedEvents(tx, access, [[`asset.attributes.${parameter}`, value]])).toEqual(eventIds(onAssets));
  }
}

/** As a query string has it: of `name!=value` the parameter is `name!`. */
function filterOf(name: string, operator: string, value: string): [string, AttributeTest] {
  const parameter = operator === '!=' ? `${name}!` : name;
  return [parameter, parseAttributeParameter(parameter, value, { field: '', prefix: '' })];
}

describe.each(engines())('what is listed on %s', (engine) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await engine.open();
  });
  afterAll(() => opened?.close());

  it('is exactly what a get returns, and filters know no more than it shows, for everybody', async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        const built = await opened.database.inTransaction('system', (tx) => build(tx, world));
        for (const who of principals(built))
          await opened.database.inTransaction({ read: [who.tenantId], write: [] }, (tx) =>
            compare(tx, built, who, world.wanted),
          );
      }),
      { numRuns: Number(process.env['VISIBILITY_RUNS'] ?? 25) },
    );
  }, 180_000);
});
