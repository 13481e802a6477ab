import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Asset } from '../../../src/archivist/assets/asset.js';
import { assetConditions } from '../../../src/archivist/assets/asset-filter-store.js';
import { narrowedAssets } from '../../../src/archivist/assets/asset-narrowing-store.js';
import { insertAssets, listAssets } from '../../../src/archivist/assets/asset-store.js';
import {
  readableAttributes,
  readableTracking,
  visibleAssets,
} from '../../../src/archivist/assets/asset-visibility-store.js';
import { lookAtAsset, type ShownAsset, shownAssets } from '../../../src/archivist/assets/see-asset.js';
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
import { keepPastAsset, keepPastGrant } from '../../../src/iam/access/past-grant-store.js';
import { readSubject, readUserAttribute } from '../../../src/iam/access/principal-key.js';
import { type Access, readAccess, visibleTenancies } from '../../../src/iam/access/read-access.js';
import { insertSubject } from '../../../src/iam/subjects/subject-store.js';
import { insertTenancy } from '../../../src/iam/tenancies/tenancy-store.js';
import type { Principal } from '../../../src/platform/http/principal.js';
import type { Tx } from '../../../src/platform/postgres/database.js';
import { executeAll } from '../../../src/platform/postgres/execute-all.js';
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
const anyMinute = fc.nat(3);
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
      operation: fc.constantFrom('Record', 'StopTracking', 'StartTracking'),
      minute: anyMinute,
    }),
    { maxLength: 8 },
  ),
  // What shares that have ended showed to the other tenancy.
  past: fc.array(
    fc.record({
      permission: anyPermission,
      assets: fc.uniqueArray(fc.nat(ASSETS - 1), { maxLength: ASSETS }),
      until: anyMinute,
    }),
    { maxLength: 3 },
  ),
  policies: fc.array(fc.record({ filters: anyFilters, permissions: fc.array(anyPermission, { maxLength: 3 }) }), {
    maxLength: 5,
  }),
  // Entries that no asset meets, in each list: with many, policies are looked up in another way.
  unmet: fc.constantFrom(0, 80),
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
  const created = world.assets.map((each) => newAsset(here, each));
  const news = world.events.map((each) => newEvent(created[each.asset]!, each));
  const events = inOrder([...created.map(firstEvent), ...news]);
  const assets = created.map((asset) => ({ ...asset, ...stateOf(asset, events, NOW.getTime() + 9e6) }));
  await executeAll(tx, insertAssets(assets));
  await executeAll(tx, insertAssetEvents(events));
  for (const each of world.policies) {
    const content = policyContent({ ...each, filters: each.filters.map(withUnmet(world.unmet)) }, guest);
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
  for (const { permission, assets: places, until } of world.past) {
    const [parsed] = policyContent({ filters: [], permissions: [permission] }, guest).access_permissions;
    const ended = {
      tenantId: here,
      readerTenantId: there,
      subjectId: guest,
      policyId: randomUUID(),
    };
    const grantId = await keepPastGrant(tx, { ...ended, permission: parsed!, filter: [] }, randomUUID());
    for (const place of places.filter((each) => !assets[each]!.public))
      await keepPastAsset(tx, { tenantId: here, grantId, assetId: assets[place]!.assetId, until: minutes(until) });
  }
  return { here, there, assets, events };
}

function withUnmet(count: number) {
  const unmet = Array.from({ length: count / 2 }, (_, place) => `attributes.colour=unmet ${place}`);
  return ({ or }: { or: string[] }) => ({ or: [...or, ...unmet] });
}

function minutes(minute: number): Date {
  return new Date(NOW.getTime() + minute * 60_000);
}

/** By time, with ids in that order. */
function inOrder(events: readonly AssetEvent[]): AssetEvent[] {
  const ids = events.map(() => randomUUID()).sort();
  const sorted = [...events].sort((one, other) => one.acceptedAt.getTime() - other.acceptedAt.getTime());
  return sorted.map((event, place) => ({ ...event, eventId: ids[place]! }));
}

/** The plain rule: an asset after the events until then. */
function stateOf({ assetId }: Asset, events: readonly AssetEvent[], until: number) {
  const told = events.filter((event) => event.assetId === assetId && event.acceptedAt.getTime() <= until);
  const tracking = told.map(({ operation }) => operation).filter((operation) => operation.endsWith('Tracking'));
  return {
    attributes: Object.assign({}, ...told.map(({ assetAttributes }) => assetAttributes)) as Asset['attributes'],
    tracked: tracking.at(-1) !== 'StopTracking',
  };
}

function firstEvent(asset: Asset): AssetEvent {
  const { attributes: changes, creatorSubject: by } = asset;
  return { ...newEvent(asset, { asset: 0, by, kind: null, changes, operation: 'Record', minute: 0 }) };
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

function newEvent(asset: Asset, { by, kind, changes, operation, minute }: World['events'][number]): AssetEvent {
  const person = { issuer: ISSUER, subject: by, display_name: '', email: '' };
  return {
    tenantId: asset.tenantId,
    eventId: randomUUID(),
    assetId: asset.assetId,
    originTenantId: asset.tenantId,
    operation,
    behaviour: 'RecordEvidence',
    eventAttributes: kind === null ? {} : { arc_display_type: kind },
    assetAttributes: changes,
    principalDeclared: person,
    principalAccepted: person,
    timestampDeclared: NOW.toISOString(),
    timestampAccepted: NOW.toISOString(),
    acceptedAt: minutes(minute),
    fromAddress: '',
  };
}

async function listedAssets(tx: Tx, access: Access, filters: readonly [string, string][]): Promise<string[]> {
  const ids: string[] = [];
  for (const tenantId of visibleTenancies(access)) {
    const tracking = readableTracking(access, tenantId);
    const filtered = assetConditions(filters, readableAttributes(access, tenantId), tracking);
    const visible = visibleAssets(access, tenantId);
    const found = await listAssets(tx, [...visible, ...filtered], 100, 'newest');
    const narrowed = [...visible, ...(await narrowedAssets(tx, access, tenantId)), ...filtered];
    expect(await listAssets(tx, narrowed, 100, 'newest')).toEqual(found);
    ids.push(...found.rows.map(({ assetId }) => assetId));
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
    ids.push(...found.rows.map(({ eventId }) => eventId));
  }
  return ids.sort();
}

async function compare(tx: Tx, built: Built, who: Principal, wanted: World['wanted']): Promise<void> {
  const access = await readAccess(tx, who);
  const seen: ShownAsset[] = [];
  for (const { assetId } of built.assets) {
    const looked = await lookAtAsset(tx, access, assetId);
    if (looked?.view.visible) seen.push(...(await shownAssets(tx, [looked])));
  }
  const events = await readableEvents(tx, access, built.events);
  const assetIds = (of: readonly Asset[]) => of.map(({ assetId }) => assetId).sort();
  const eventIds = (of: readonly AssetEvent[]) => of.map(({ eventId }) => eventId).sort();
  const tracked = (wanted: boolean) => assetIds(seen.filter((asset) => asset.tracked === wanted));
  expect(await listedAssets(tx, access, [])).toEqual(tracked(true));
  expect(await listedAssets(tx, access, [['tracked', 'NOT_TRACKED']])).toEqual(tracked(false));
  expect(await listedAssets(tx, access, [['tracked', 'ANY']])).toEqual(assetIds(seen));
  expect(await listedEvents(tx, access, [])).toEqual(eventIds(events));
  for (const { name, operator, value } of wanted) {
    const [parameter, test] = filterOf(name, operator, value);
    const passing = seen.filter((asset) => matchesAttributeTest(test, asset.attributes));
    const asked: [string, string][] = [
      ['tracked', 'ANY'],
      [`attributes.${parameter}`, value],
    ];
    expect(await listedAssets(tx, access, asked)).toEqual(assetIds(passing));
    const changed = events.filter((event) => matchesAttributeTest(test, event.assetAttributes));
    expect(await listedEvents(tx, access, [[`asset_attributes.${parameter}`, value]])).toEqual(eventIds(changed));
    const views = new Map(seen.map((asset) => [asset.assetId, asset.attributes]));
    const onAssets = events.filter(({ assetId }) => matchesAttributeTest(test, views.get(assetId) ?? {}));
    expect(await listedEvents(tx, access, [[`asset.attributes.${parameter}`, value]])).toEqual(eventIds(onAssets));
  }
}

/** What ended shares show, when nothing else does: events until then, attributes and tracking as of then. */
async function comparePast(tx: Tx, built: Built, world: World): Promise<void> {
  const access = await readAccess(tx, principal(built.there, 'boss', { roles: ['OWNER'] }));
  for (const [place, asset] of built.assets.entries()) {
    const shares = world.past.filter(({ assets }) => assets.includes(place) && !asset.public);
    const lists = ({ permission: given }: World['past'][number]) => [
      ...given.asset_attributes_read,
      ...given.include_attributes,
    ];
    const names = (list: readonly string[], name: unknown) => list.includes('*') || list.some((each) => each === name);
    const showing = shares.filter(
      (each) => [...lists(each), ...each.permission.event_arc_display_type_read].length > 0,
    );
    const looked = await lookAtAsset(tx, access, asset.assetId);
    expect(looked?.view.visible ?? false).toBe(showing.length > 0);
    if (showing.length === 0 || !looked) continue;
    const last = (of: World['past']) => minutes(Math.max(...of.map(({ until }) => until))).getTime();
    const attributes: Record<string, unknown> = {};
    for (const name of NAMES) {
      const readers = shares.filter((each) => names(lists(each), name));
      const then = readers.length > 0 ? stateOf(asset, built.events, last(readers)).attributes : {};
      if (Object.hasOwn(then, name)) attributes[name] = then[name];
    }
    const [shown] = await shownAssets(tx, [looked]);
    expect(shown!.attributes).toEqual(attributes);
    expect(shown!.tracked).toBe(stateOf(asset, built.events, last(showing)).tracked);
    const own = built.events.filter((event) => event.assetId === asset.assetId);
    const expected = own.filter(({ acceptedAt, eventAttributes: { arc_display_type: kind } }) =>
      shares.some(
        ({ permission: { event_arc_display_type_read: kinds }, until }) =>
          acceptedAt <= minutes(until) && (kinds.includes('*') || kinds.some((each) => each === kind)),
      ),
    );
    const found = await readableEvents(tx, access, own);
    expect(found.map(({ eventId }) => eventId)).toEqual(expected.map(({ eventId }) => eventId));
    for (const event of found) {
      const changed = Object.entries(own.find(({ eventId }) => eventId === event.eventId)!.assetAttributes);
      const readable = changed.filter(([name]) =>
        shares.some((each) => event.acceptedAt <= minutes(each.until) && names(lists(each), name)),
      );
      expect(event.assetAttributes).toEqual(Object.fromEntries(readable));
    }
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
        if (world.shared) return;
        await opened.database.inTransaction({ read: [built.there], write: [] }, (tx) => comparePast(tx, built, world));
      }),
      { numRuns: Number(process.env['VISIBILITY_RUNS'] ?? 25) },
    );
  }, 180_000);
});
