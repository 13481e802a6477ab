import pg from 'pg';
import type { BenchPlan } from './bench-plan.js';
import { BULK, recordInBulk } from './bulk-client.js';
import { assetEventItem, assetFreeEventItem, SHARE } from './grown-events.js';
import { ASSET_QUERIES, type Grown, type Query, type QueryRequest, queriesOf } from './query-plan.js';
import { openRawInsert } from './raw-insert.js';
import { awaitProof, type ServiceUnderTest } from './service-under-test.js';
import { percentile } from './statistics.js';
import { newSubject } from './template-event.js';

/** Milliseconds of each query: the median in the small tenancy and in the large one. */
export interface QueryFigures {
  readonly sizes: readonly [number, number];
  readonly queries: readonly { readonly name: string; readonly small: number; readonly large: number }[];
}

/** Events and rows per second of each round. */
export interface BulkFigures {
  readonly events: readonly number[];
  /** None where the database can only be reached through the service. */
  readonly rawRows: readonly number[];
  /** From the last answer until the last event had its transparent statement, each round. */
  readonly followedSeconds: readonly number[];
}

type Say = (line: string) => void;
type Asset = { readonly assetId: string; readonly subject: string };

/** Grows a fresh service's tenancy, in bulk, and asks it the same queries when it is small and when it is large. */
export async function measureGrowth(
  service: ServiceUnderTest,
  databaseUrl: string | undefined,
  plan: BenchPlan,
  say: Say,
): Promise<{ queries: QueryFigures; bulk: BulkFigures }> {
  const [small, large] = plan.tenancySizes;
  const assets = [...service.target.assets, await publicAsset(service)];
  await grow(service, assets, 0, small, databaseUrl);
  say(`queries of a tenancy of ${small} events`);
  const before = await askAll(service, await grownTenancy(service, assets, small), plan, databaseUrl);
  const bulk = await measureBulk(service, assets, small, databaseUrl, plan, say);
  await grow(service, assets, small + bulk.recorded, large, databaseUrl, small);
  say(`queries of a tenancy of ${large} events`);
  const after = await askAll(service, await grownTenancy(service, assets, large), plan, databaseUrl);
  const queries = [...before].map(([name, ms]) => ({ name, small: ms, large: after.get(name)! }));
  return { queries: { sizes: [small, large], queries }, bulk };
}

async function publicAsset({ reader, headers }: ServiceUnderTest): Promise<Asset> {
  const subject = newSubject();
  const body = JSON.stringify({ public: true, attributes: { arc_display_type: 'vcon', subject } });
  const { status, bytes } = await reader.send({ method: 'POST', path: '/archivist/v2/assets', headers, body });
  if (status !== 200) throw new Error(`the creation of a public asset answered ${status}`);
  return { assetId: JSON.parse(bytes.toString()).identity.slice('assets/'.length), subject };
}

/** Resolves when what was added is in its logs, statements too. */
async function grow(
  service: ServiceUnderTest,
  assets: readonly Asset[],
  from: number,
  to: number,
  databaseUrl: string | undefined,
  othersFrom = from,
): Promise<void> {
  let last = '';
  for (let number = from; number < to; number += BULK * 5) {
    const events = range(number, Math.min(to, number + BULK * 5)).map((each) =>
      assetEventItem(each, assets[each % assets.length]!),
    );
    last = (await recordInBulk(service, '/archivist/v2/assets/-/events:bulk', events)).identities.at(-1)!;
  }
  for (let number = othersFrom; number < to; number += BULK * 5)
    await recordInBulk(
      service,
      '/archivist/v1/events:bulk',
      range(number, Math.min(to, number + BULK * 5)).map(assetFreeEventItem),
    );
  if (databaseUrl) await copyAssets(databaseUrl, othersFrom, to);
  await awaitProof(service, last, 'transparent-statement');
  await awaitPlaces(service);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, place) => from + place);
}

/** Assets for the lists alone: no bulk request makes any. */
async function copyAssets(databaseUrl: string, from: number, to: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO archivist.asset (tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes, behaviours,
       proof_mechanism, public, tracked, owner, creator_issuer, creator_subject, created_at)
     SELECT a.tenant_id, gen_random_uuid(), a.origin_tenant_id, a.new_asset_event_id,
            jsonb_build_object('bench_serial', 'serial ' || n, 'bench_share', 'share ' || n % ${SHARE}), a.behaviours,
            a.proof_mechanism, false, true, a.owner, a.creator_issuer, a.creator_subject, a.created_at
       FROM generate_series($1::int, $2::int - 1) AS n,
            (SELECT * FROM archivist.asset WHERE tenant_id = origin_tenant_id LIMIT 1) AS a`,
    [from, to],
  );
  await client.query('ANALYZE');
  await client.end();
}

/** Removes the assets that were made for lists alone: an audit takes them for faults, because no event has created them. */
export async function removeCopiedAssets(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `DELETE FROM archivist.asset a WHERE NOT EXISTS (
       SELECT FROM archivist.asset_event e WHERE e.tenant_id = a.tenant_id AND e.asset_id = a.asset_id)`,
  );
  await client.end();
}

/** Until the newest asset-free event is in its log. */
async function awaitPlaces(service: ServiceUnderTest): Promise<void> {
  for (const until = Date.now() + 600_000; Date.now() < until; await new Promise((next) => setTimeout(next, 500)))
    if ((await searched(service, { filter: '', top: 1 }))[0]?.ledger_entry.idtimestamp) return;
  throw new Error('the log did not follow');
}

interface Found {
  readonly ledger_entry: { readonly index: string; readonly idtimestamp: string };
}

async function searched(service: ServiceUnderTest, search: object): Promise<Found[]> {
  const { bytes } = await ask(service, { search } as QueryRequest);
  return JSON.parse(bytes.toString()).events;
}

async function grownTenancy(service: ServiceUnderTest, assets: readonly Asset[], size: number): Promise<Grown> {
  const [middle] = await searched(service, { filter: `trails/any(t: t eq 'trail ${Math.floor(size / 2)}')`, top: 1 });
  const share = `event_attributes.bench_share=${encodeURIComponent('share 7')}`;
  return {
    size,
    subject: assets[0]!.subject,
    publicSubject: assets.at(-1)!.subject,
    assetId: assets[0]!.assetId,
    ledgerEntry: middle!.ledger_entry,
    pages: { all: await tokenAt(service, '', size / 2), share: await tokenAt(service, share, size / SHARE / 2) },
  };
}

/** A page token about so many events deep. */
async function tokenAt({ reader, headers }: ServiceUnderTest, filter: string, deep: number): Promise<string> {
  let token = '';
  for (let seen = 0; seen < deep; ) {
    const pageSize = Math.max(1, Math.min(1000, Math.floor(deep - seen)));
    const next = token && `&page_token=${encodeURIComponent(token)}`;
    const page = await reader.json(`/archivist/v2/assets/-/events?page_size=${pageSize}&${filter}${next}`, headers);
    const { events, next_page_token: following } = page as { events: unknown[]; next_page_token: string };
    if (!following) break;
    token = following;
    seen += events.length;
  }
  return token;
}

async function askAll(
  service: ServiceUnderTest,
  grown: Grown,
  plan: BenchPlan,
  databaseUrl: string | undefined,
): Promise<Map<string, number>> {
  const queries: Query[] = [...queriesOf(grown), ...(databaseUrl ? ASSET_QUERIES : [])];
  const times = new Map(queries.map(({ name }) => [name, [] as number[]]));
  // Round by round, so that a busy spell of the machine falls on all of them.
  for (let round = -1; round < plan.queryRounds; round += 1)
    for (const { name, request } of queries) {
      const begun = performance.now();
      const { status } = await ask(service, request);
      if (status !== 200 && status !== 206) throw new Error(`${name}: answered ${status}`);
      if (round >= 0) times.get(name)!.push(performance.now() - begun);
    }
  return new Map([...times].map(([name, all]) => [name, percentile(all, 0.5)]));
}

function ask({ reader, headers }: ServiceUnderTest, request: QueryRequest) {
  if ('search' in request) {
    const body = JSON.stringify(request.search);
    return reader.send({ method: 'POST', path: '/archivist/v1/events/search', headers, body });
  }
  const exact = request.exactTotal ? { 'x-request-total-count': 'true' } : {};
  return reader.send({ method: 'GET', path: request.path, headers: request.anonymous ? {} : { ...headers, ...exact } });
}

async function measureBulk(
  service: ServiceUnderTest,
  assets: readonly Asset[],
  from: number,
  databaseUrl: string | undefined,
  plan: BenchPlan,
  say: Say,
): Promise<BulkFigures & { recorded: number }> {
  const raw = databaseUrl ? await openRawInsert(databaseUrl) : undefined;
  const figures = { events: [] as number[], rawRows: [] as number[], followedSeconds: [] as number[], recorded: 0 };
  for (let round = -1; round < plan.rounds; round += 1) {
    const first = from + figures.recorded;
    const events = range(first, first + plan.bulkEvents).map((each) => assetEventItem(each, assets[0]!));
    const rawRows = await raw?.rate(Math.ceil(plan.bulkEvents / BULK));
    const { identities, seconds } = await recordInBulk(service, '/archivist/v2/assets/-/events:bulk', events);
    const answered = performance.now();
    await awaitProof(service, identities.at(-1)!, 'transparent-statement');
    figures.recorded += events.length;
    if (round < 0) continue; // the first one warms up
    figures.events.push(events.length / seconds);
    figures.followedSeconds.push((performance.now() - answered) / 1000);
    if (rawRows !== undefined) figures.rawRows.push(rawRows);
    say(`bulk: ${Math.round(figures.events.at(-1)!)} events/s, raw ${Math.round(rawRows ?? Number.NaN)} rows/s`);
  }
  await raw?.close();
  return figures;
}
