import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AccessRow, accessTable, makeThings, requestOf, type Things, withFresh } from './access-table.js';
import { shape, startObservedService } from './mounted-routes.js';
import type { Answer } from './test-service.js';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

const ANCHORED = { timeout: 30_000, interval: 100 };

let running: Awaited<ReturnType<typeof startObservedService>>;
let things: Things;
/** Every route that pages, and what of the access table the owner reads it by. */
let lists: { readonly route: string; readonly path: string; readonly add: AccessRow | undefined }[];
beforeAll(async () => {
  running = await startObservedService();
  things = await makeThings(running, running.owner);
  const rows = accessTable.rows.filter((row) => [200, 206].includes(row.expect.at(-1)!));
  const routes = await pagingRoutes();
  lists = [];
  for (const route of routes) {
    const row = rows.find((each) => shape(each.route) === route);
    if (!row) throw new Error(`no row of the access table reads ${route}`);
    const post = rows.find((each) => shape(each.route) === route.replace('GET', 'POST') && each.body !== undefined);
    const { url } = requestOf(row, await withFresh(things, row, running.owner));
    lists.push({ route, path: url.split('?')[0]!, add: post });
  }
  for (const { add } of lists) for (let count = 0; add && count < 2; count += 1) await send(add);
  // Its entry comes seconds later, with the next block of the chain.
  const anchored = lists.find(({ route }) => route.includes('/blockchain/'))!;
  await vi.waitFor(async () => expect(entriesOf(await read(anchored.path, ''))).toHaveLength(1), ANCHORED);
});
afterAll(() => running?.close());

async function pagingRoutes(): Promise<string[]> {
  const found: string[] = [];
  for (const document of running.mountedPaths.filter((path) => path.endsWith(':openapi'))) {
    const { json } = await running.anonymous.get(document);
    for (const [path, item] of Object.entries(json['paths'] as Record<string, Record<string, Operation>>))
      if (item['get']?.parameters.some(({ name }) => name === 'page_token')) found.push(shape(`GET ${path}`));
  }
  return found;
}

async function send(row: AccessRow): Promise<void> {
  const { url, body } = requestOf(row, await withFresh(things, row, running.owner));
  const answer = await running.owner.post(url, body ?? '');
  expect([url, answer.status, answer.json['error']]).toEqual([url, 200, undefined]);
}

const read = async (path: string, query: string, headers: Record<string, string> = {}) => {
  const answer = await running.owner.get(`${path}?${query}`, headers);
  expect([path, query, answer.status, answer.json['error']]).toEqual([path, query, 200, undefined]);
  return answer;
};
/** The list of members names its token so (docs/design/interface.md#members-and-invites). */
const tokenOf = ({ json }: Answer) => String(json['next_page_token'] ?? json['page_token']);
const entriesOf = ({ json }: Answer) => Object.values(json).find(Array.isArray) as Record<string, unknown>[];
const nameOf = (entry: Record<string, unknown>) =>
  String(entry['identity'] ?? entry['compliance_policy_identity'] ?? JSON.stringify(entry));
const exactly = { 'x-request-total-count': 'true' };

/** Reads the rest by tokens alone. */
async function follow(path: string, first: Answer): Promise<string[]> {
  const names = entriesOf(first).map(nameOf);
  for (let token = tokenOf(first); token !== ''; ) {
    const page = await read(path, `page_size=1&page_token=${encodeURIComponent(token)}`);
    names.push(...entriesOf(page).map(nameOf));
    token = tokenOf(page);
  }
  return names;
}

describe('every list', () => {
  it('is there', () => {
    expect(lists.length).toBeGreaterThanOrEqual(9);
  });

  it('counts exactly what its pages show, each entry once', async () => {
    for (const { route, path } of lists) {
      const first = await read(path, 'page_size=1', exactly);
      const names = await follow(path, first);
      expect([route, first.headers.get('x-total-count')]).toEqual([route, String(names.length)]);
      expect([route, new Set(names).size]).toEqual([route, names.length]);
      const whole = await read(path, 'page_size=1000');
      expect([route, entriesOf(whole).map(nameOf), tokenOf(whole)]).toEqual([route, names, '']);
    }
  });

  it('goes on where it was while entries are added', async () => {
    for (const { route, path, add } of lists.filter((each) => each.add)) {
      const before = entriesOf(await read(path, 'page_size=1000')).map(nameOf);
      const first = await read(path, 'page_size=1');
      await send(add!);
      const names = await follow(path, first);
      expect([route, before.filter((name) => !names.includes(name))]).toEqual([route, []]);
      expect([route, new Set(names).size]).toEqual([route, names.length]);
    }
  });

  it('takes back only its own tokens, as they were', async () => {
    const tokens: { readonly route: string; readonly token: string }[] = [];
    for (const { route, path } of lists) {
      const token = tokenOf(await read(path, 'page_size=1'));
      if (token !== '') tokens.push({ route, token });
    }
    expect(tokens.length).toBeGreaterThanOrEqual(6);
    for (const { route, path } of lists) {
      // Some lists have two paths: without the version, or beside identity.
      const nameOfList = (each: string) => each.replace(/\/v2|\/iam/, '');
      const same = (other: string) => nameOfList(other) === nameOfList(route);
      const foreign = tokens.filter((each) => !same(each.route)).map((each) => each.token);
      const own = tokens.find((each) => each.route === route)?.token ?? foreign[0]!;
      const forged = [own.slice(0, -2), `A${own.slice(1)}`, `${own}AA`, 'x', '%00'];
      for (const token of [...foreign, ...forged.filter((each) => each !== own)]) {
        const answer = await running.owner.get(`${path}?page_token=${token}`);
        expect([route, token, answer.status, answer.json['description']]).toEqual([
          route,
          token,
          400,
          expect.stringMatching(/page_token/),
        ]);
      }
    }
  });

  it('refuses a page size that is none', async () => {
    for (const { route, path } of lists)
      for (const size of ['x', '-1', '1.5', '1e3', '%00']) {
        const answer = await running.owner.get(`${path}?page_size=${size}`);
        expect([route, size, answer.status, answer.json['description']]).toEqual([
          route,
          size,
          400,
          expect.stringMatching(/^page_size: /),
        ]);
      }
  });
});

describe('a misspelt filter', () => {
  it('is refused by every list, which would otherwise return everything', async () => {
    for (const { route, path } of lists) {
      const answer = await running.owner.get(`${path}?dispaly_name=x`);
      expect([route, answer.status, answer.json['description']]).toEqual([
        route,
        400,
        expect.stringContaining('dispaly_name'),
      ]);
    }
  });
});

describe('a size above the largest page', () => {
  it('is accepted, however large, and cut to the largest page', async () => {
    for (const { path } of lists)
      for (const size of ['2147483647', '9223372036854775807', '9'.repeat(400)]) await read(path, `page_size=${size}`);
  });
});

describe('a token', () => {
  it('carries the filters and the order of its query, and takes the same ones beside it, but no others', async () => {
    const made = ['first', 'second', 'third'];
    for (const name of made)
      await running.owner.post('/archivist/v2/assets', { attributes: { paged: 'yes', name }, public: true });
    for (const [path, filter, key] of [
      ['/archivist/v2/assets', 'attributes.paged=yes&order_by=SIMPLEHASHV1', 'attributes'],
      ['/archivist/v2/assets/-/events', 'asset_attributes.paged=yes&order_by=SIMPLEHASHV2', 'asset_attributes'],
      ['/archivist/v2/publicassets/-/events', 'asset_attributes.paged=yes&order_by=SIMPLEHASHV1', 'asset_attributes'],
    ] as const) {
      const first = await read(path, `page_size=1&${filter}`);
      const token = encodeURIComponent(tokenOf(first));
      const rest = await read(path, `page_size=2&page_token=${token}`);
      const shown = [...entriesOf(first), ...entriesOf(rest)].map((entry) => (entry[key] as { name: string }).name);
      expect([path, shown]).toEqual([path, made]);
      const beside = entriesOf(await read(path, `page_size=2&page_token=${token}&${filter}`));
      expect(beside.map(nameOf)).toEqual(entriesOf(rest).map(nameOf));
      const other = await running.owner.get(`${path}?page_token=${token}&order_by=DEFAULT`);
      expect([other.status, other.json['description']]).toEqual([400, expect.stringMatching(/^page_token: /)]);
    }
  });

  it('keeps the page size of its query, unless the request names another', async () => {
    const sizeOf = async (path: string, query: string) => entriesOf(await read(path, query)).length;
    for (let count = 0; count < 4; count += 1)
      await running.owner.post('/archivist/v2/assets', { attributes: { sized: 'yes' } });
    const path = '/archivist/v2/assets';
    const first = await read(path, 'page_size=1&attributes.sized=yes');
    const token = encodeURIComponent(tokenOf(first));
    const second = await read(path, `page_token=${token}`);
    expect(entriesOf(second)).toHaveLength(1);
    expect(await sizeOf(path, `page_token=${encodeURIComponent(tokenOf(second))}`)).toBe(1);
    expect(await sizeOf(path, `page_size=2&page_token=${token}`)).toBe(2);
  });

  it('is of no use to another caller', async () => {
    const stranger = await running.client({ otherTenancy: true, roles: ['OWNER'] });
    const token = encodeURIComponent(tokenOf(await read('/archivist/v2/assets', 'page_size=1')));
    expect((await stranger.get(`/archivist/v2/assets?page_token=${token}`)).status).toBe(400);
  });
});

describe('a list beyond the server limit', () => {
  it('is partial content with its range, has a total, and still pages', async () => {
    const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: { many: 'yes' } };
    const asset = String((await running.owner.post('/archivist/v2/assets', { public: true })).json['identity']);
    for (const count of [1000, 2])
      await running.owner.post(`/archivist/v2/${asset}/events:bulk`, { events: Array(count).fill(event) });
    for (const path of ['/archivist/v2/assets/-/events', `/archivist/v2/public${asset}/events`]) {
      const first = await running.owner.get(`${path}?event_attributes.many=yes&page_size=1000`);
      expect(first.status).toBe(206);
      expect(entriesOf(first)).toHaveLength(1000);
      expect([first.headers.get('x-total-count'), first.headers.get('content-range')]).toEqual([
        '1001',
        'items 0-1000/1001',
      ]);
      const token = encodeURIComponent(tokenOf(first));
      const rest = await running.owner.get(`${path}?page_token=${token}`, exactly);
      expect([rest.status, entriesOf(rest).length, tokenOf(rest)]).toEqual([206, 2, '']);
      expect(rest.headers.get('content-range')).toBe('items 0-1000/1002');
    }
  });

  it('is so for assets, too', async () => {
    const columns = `tenant_id, origin_tenant_id, new_asset_event_id, attributes, behaviours, proof_mechanism, public,
      tracked, owner, creator_issuer, creator_subject, created_at`;
    await running.asOwner(
      `INSERT INTO archivist.asset (asset_id, ${columns}) SELECT gen_random_uuid(), ${columns}
         FROM archivist.asset, generate_series(1, 1001) WHERE asset_id = '${things['asset']}'`,
    );
    const answer = await running.owner.get('/archivist/v2/assets?page_size=1');
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, 'items 0-1000/1001']);
    const exact = await running.owner.get('/archivist/v2/assets?page_size=1', exactly);
    expect(Number(exact.headers.get('x-total-count'))).toBeGreaterThan(1001);
  });
});
