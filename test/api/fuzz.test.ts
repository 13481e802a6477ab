import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AccessRow,
  accessTable,
  filled,
  makeThings,
  requestOf,
  type TableRequest,
  type Things,
  withFresh,
} from './access-table.js';
import { faultOf, LATEST_MS, parsed } from './answer-fault.js';
import { hostileHeader, hostilePair, hostileSegment } from './hostile-http.js';
import { damage, damaged, mutated, mutation } from './hostile-json.js';
import { type DescribedRoute, describedRoutes, shape, startObservedService } from './mounted-routes.js';
import { type RawAnswer, rawRequest } from './raw-request.js';
import { type Client, clientWith, until } from './test-service.js';

/** FUZZ_RUNS takes the bound off the time; a seed that failed is repeated with FUZZ_SEED. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 500);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const SUITE_MS = 12_000;

let running: Awaited<ReturnType<typeof startObservedService>>;
let things: Things;
let callers: readonly Client[];
let described: ReadonlyMap<string, DescribedRoute>;
let pageTokens: readonly string[];
const accepted: { readonly path: string; readonly client: Client }[] = [];

beforeAll(async () => {
  running = await startObservedService();
  const creator = await running.client({});
  callers = [creator, running.owner, running.anonymous];
  things = await makeThings(running, creator);
  for (const row of accessTable.rows) things = await withFresh(things, row, running.owner);
  const documents = await describedRoutes(running.url, running.mountedPaths);
  described = new Map(documents.map((route) => [`${route.method} ${shape(route.path)}`, route]));
  pageTokens = await sealedPageTokens(creator);
});
afterAll(() => running?.close());

/** What takes a body or a query has most to get wrong. */
function weightOf(row: AccessRow): number {
  if (!row.route.startsWith('GET')) return 10;
  if (row.url.includes('page_size=')) return 8;
  return row.url.includes('{') ? 2 : 1;
}

/** One time in six. */
function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

/** A row of the access table, and what is done to its request. */
const attack = fc.record({
  row: fc.constantFrom(...accessTable.rows.flatMap((row) => Array<AccessRow>(weightOf(row)).fill(row))),
  caller: fc.constantFrom(0, 0, 0, 1, 1, 2),
  method: rarely(fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE')),
  segment: rarely(fc.record({ place: fc.nat(9), text: hostileSegment })),
  query: fc.array(hostilePair, { maxLength: 2 }),
  keepsQuery: fc.boolean(),
  pageToken: rarely(fc.record({ place: fc.nat(99), bit: fc.option(fc.nat(4000), { freq: 2 }) })),
  headers: fc.array(hostileHeader, { maxLength: 2 }),
  mutations: fc.array(mutation, { maxLength: 4 }),
  damage,
});
type Attack = typeof attack extends fc.Arbitrary<infer Value> ? Value : never;

describe('whatever is sent', () => {
  it(
    `is answered in time, in the statuses of its route, and never by a 5xx (seed ${SEED}, ${RUNS} runs)`,
    async () => {
      const property = fc.asyncProperty(fc.array(attack, { minLength: 1, maxLength: 3 }), async (attacks) => {
        await Promise.all(attacks.map(probe));
      });
      const bound = process.env['FUZZ_RUNS'] ? {} : { interruptAfterTimeLimit: SUITE_MS };
      await fc.assert(property, { seed: SEED, numRuns: RUNS, ...bound });
    },
    24 * 3600 * 1000,
  );

  it('leaves every prototype as it was', () => {
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('is sealed when it was accepted, so that nothing accepted holds up a log', async () => {
    expect(accepted.length).toBeGreaterThan(0);
    for (const { path, client } of accepted.filter((each) => each.path.includes('/events/'))) {
      const answer = await until(
        () => client.get(path),
        (each) => each.json['confirmation_status'] === 'CONFIRMED',
        20_000,
      );
      expect([path, answer.json['confirmation_status']]).toEqual([path, 'CONFIRMED']);
    }
    expect((await running.anonymous.get('/readyz')).status).toBe(200);
  }, 600_000);
});

/** Sends one hostile request and looks at everything that must hold of its answer. */
async function probe(plan: Attack): Promise<void> {
  const request = hostileRequest(plan, requestOf(plan.row, things));
  const answer = await rawRequest(running.url, request.bytes, LATEST_MS);
  const wrong = faultOf(answer) ?? (request.aimed ? unforeseen(plan.row, answer) : undefined);
  if (wrong)
    throw new Error(
      `${wrong}\n--- sent\n${excerpt(request.bytes.toString('latin1'))}\n--- answered\n${excerpt(`${answer.head}\n${answer.body}`)}`,
    );
  if (request.aimed && plan.row.route.startsWith('POST') && answer.status === 200)
    await readBack(plan.row, answer, callers[plan.caller]!);
}

interface HostileRequest {
  readonly bytes: Buffer;
  /** It goes to the row's own route: only what it carries was changed. */
  readonly aimed: boolean;
}

function hostileRequest(plan: Attack, { method, url, headers, body }: TableRequest): HostileRequest {
  const [path = '', query = ''] = url.split('?');
  const verb = plan.method ?? method;
  const segments = path.split('/');
  if (plan.segment) segments[1 + (plan.segment.place % (segments.length - 1))] = plan.segment.text;
  const pairs = [...(plan.keepsQuery && query !== '' ? [query] : []), ...plan.query, ...pageTokenPair(plan)];
  const target = `${segments.join('/')}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
  const text = plan.row.body === undefined ? (body ?? '') : mutated(JSON.parse(body!), plan.mutations);
  const bytes = damaged(Buffer.from(text, 'utf8'), plan.damage);
  const { token } = callers[plan.caller]!;
  const lines = new Map<string, string>([
    ['host', 'localhost'],
    ...Object.entries(headers),
    ...(token === '' ? [] : [['authorization', `Bearer ${token}`] as const]),
    ...plan.headers,
    ['connection', 'close'],
    ['content-length', String(bytes.length)],
  ]);
  const head = [...lines].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return {
    bytes: Buffer.concat([Buffer.from(`${verb} ${onTheWire(target)} HTTP/1.1\r\n${head}\r\n`, 'latin1'), bytes]),
    aimed: verb === method && !plan.segment,
  };
}

/** A space or a line's end would end the target, and then it is not HTTP that comes to a route. */
function onTheWire(target: string): string {
  return Buffer.from(target.replaceAll(/[\s\p{Cc}]/gu, '_'), 'utf8').toString('latin1');
}

function pageTokenPair(plan: Attack): string[] {
  if (!plan.pageToken) return [];
  const { place, bit } = plan.pageToken;
  const bytes = Buffer.from(pageTokens[place % pageTokens.length]!, 'base64url');
  if (bit !== null) bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
  return [`page_token=${bytes.toString('base64url')}`];
}

/** Refusals that the pipeline gives before a route is asked: unreadable, unexpected, too large, encoded, expectation, headers. */
const BEFORE_ROUTES: readonly number[] = [400, 405, 413, 415, 417, 431];

function unforeseen(row: AccessRow, { status }: RawAnswer): string | undefined {
  const route = described.get(shape(row.route));
  if (!route) return undefined;
  return [...BEFORE_ROUTES, ...route.statuses].includes(status)
    ? undefined
    : `${row.route} does not say that it answers ${status}`;
}

/** What was accepted can be read, where there is a route for it: nothing is stored that cannot be served. */
async function readBack({ route, url }: AccessRow, answer: RawAnswer, client: Client): Promise<void> {
  const identity = (parsed(answer.body) as { identity?: unknown } | undefined)?.identity;
  if (typeof identity !== 'string' || !described.has(shape(`${route.replace('POST', 'GET')}/{uuid}`))) return;
  const collection = filled(url.split('?')[0]!, things);
  const path = `${collection}/${identity.slice(identity.lastIndexOf('/') + 1)}`;
  const read = await clientWith(running.url, client.token).get(path);
  if (read.status !== 200) throw new Error(`${path} was accepted, and reading it answers ${read.status}`);
  accepted.push({ path, client });
}

async function sealedPageTokens(client: Client): Promise<string[]> {
  const tokens: string[] = [];
  for (const row of accessTable.rows.filter(
    ({ route, url }) => route.startsWith('GET') && url.includes('page_size='),
  )) {
    const { url } = requestOf(row, things);
    const { json } = await client.get(url.replace(/page_size=\d+/, 'page_size=1'));
    if (json['next_page_token']) tokens.push(String(json['next_page_token']));
  }
  expect(tokens.length).toBeGreaterThan(0);
  return tokens;
}

function excerpt(text: string): string {
  const hidden = text.replaceAll(/Bearer [\w.-]{100,}/g, 'Bearer (a token)');
  return hidden.length > 3000 ? `${hidden.slice(0, 3000)} … ${hidden.length} characters` : hidden;
}
