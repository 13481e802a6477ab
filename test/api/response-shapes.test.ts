import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessRow, accessTable, makeThings, requestOf, type Things, withFresh } from './access-table.js';
import { mountedRoutes, shape, startObservedService } from './mounted-routes.js';

/** What the interface says of one endpoint: fixtures/interface/shapes has one file for each part of it. */
interface Shape {
  /** Name of the operation, where the interface has one. */
  readonly operation: string | null;
  readonly query: readonly string[];
  /** Types by path; `[]` are the members of a list. Null where the answer is no JSON. */
  readonly answer: Readonly<Record<string, string>> | null;
}

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}

const FOLDER = new URL('../../fixtures/interface/shapes/', import.meta.url);
const shapes = readdirSync(FOLDER).flatMap((file) =>
  Object.entries(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Record<string, Shape>),
);

/** Where clients, or the interface itself, need something else than the original's documents say, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  // Decoders of the clients read numbers (docs/design/interface.md#existing-clients).
  block_number: 'integer',
  transaction_index: 'integer',
};
/** The original calls it context; the DID core vocabulary has the sign. */
const RENAMED: Readonly<Record<string, string>> = { context: '@context', 'context[]': '@context[]' };
/** Null until a log has come so far. */
const NULL_BEFORE = new Set(['commit', 'confirm', 'unequivocal']);
/** Members beyond the original's documents: of interface.md, or said to be ours at the code. */
const OURS = new Set([
  'storage_integrity',
  'event_type',
  'scanned_reason',
  'subject_string',
  '@context',
  'assertionMethod',
  // The other spelling, of a list and of a field (docs/design/interface.md#members-and-invites).
  'next_page_token',
  'certificate',
  'certificates',
  // What signing in needs beside the original's settings.
  'audience',
  'claims',
]);
/** Lists that show nothing here: an application is nobody's member, and the policy of the table matches no asset. */
const EMPTY = new Set(['GET /archivist/iam/v1/memberships', 'GET /archivist/iam/v1/access_policies/{uuid}/assets']);

let running: Awaited<ReturnType<typeof startObservedService>>;
let things: Things;
let mounted: ReadonlySet<string>;
let described: ReadonlyMap<string, Described>;
beforeAll(async () => {
  running = await startObservedService();
  mounted = new Set((await mountedRoutes(running.url, running.mountedPaths)).map(shape));
  described = await describedOperations();
  things = await makeThings(running, running.owner);
});
afterAll(() => running?.close());

async function describedOperations(): Promise<Map<string, Described>> {
  const found = new Map<string, Described>();
  for (const path of running.mountedPaths.filter((each) => each.endsWith(':openapi'))) {
    const { json } = await running.anonymous.get(path);
    for (const [place, item] of Object.entries(json['paths'] as Record<string, Record<string, Described>>))
      for (const [method, operation] of Object.entries(item))
        found.set(shape(`${method.toUpperCase()} ${place}`), operation);
  }
  return found;
}

/** A row by which the owner gets an answer; members need a person first, whom the tests of members have. */
function rowOf(endpoint: string): AccessRow | undefined {
  return accessTable.rows.find(
    (row) => shape(row.route) === shape(endpoint) && [200, 206].includes(row.expect.at(-1)!),
  );
}

/** The answer that the owner gets by the access table, whose rows stand for every route. */
async function answerTo(endpoint: string): Promise<unknown> {
  const row = rowOf(endpoint)!;
  const addition = endpoint.startsWith('GET') ? rowOf(endpoint.replace('GET', 'POST')) : undefined;
  if (addition?.body !== undefined) {
    const { url, body } = requestOf(addition, await withFresh(things, addition, running.owner));
    await running.owner.post(url, body);
  }
  const all = { ...things, client: running.owner.clientId };
  const { method, url, headers, body } = requestOf(row, await withFresh(all, row, running.owner));
  const authorization = row.form ? {} : { authorization: `Bearer ${running.owner.token}` };
  const init = { method, headers: { ...headers, ...authorization }, ...(body === undefined ? {} : { body }) };
  const response = await fetch(`${running.url}${url}`, init);
  expect([200, 206], url).toContain(response.status);
  return response.json();
}

/** Every value that a path of the table leads to, nulls that may be left out. */
function valuesAt(answer: unknown, path: string): unknown[] {
  const steps = path.split(/\.|(?=\[\])/).filter((step) => step !== '');
  let values = [answer];
  for (const step of steps) {
    const found = values.flatMap((value) =>
      step === '[]' ? (value as unknown[]) : [(value as Record<string, unknown>)[step]],
    );
    values = NULL_BEFORE.has(step) ? found.filter((value) => value !== null) : found;
  }
  return values;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'string date-time':
      return typeof value === 'string' && (value === '' || !Number.isNaN(Date.parse(value)));
    case 'string int64':
    case 'string uint64':
      return typeof value === 'string' && /^-?\d+$/.test(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

/** Paths of everything in an answer, as far as the table speaks of it. */
function pathsIn(value: unknown, known: ReadonlySet<string>, at = ''): string[] {
  const open = at !== '' && ![...known].some((path) => path.startsWith(`${at}.`) || path.startsWith(`${at}[]`));
  if (typeof value !== 'object' || value === null || open) return [at];
  if (Array.isArray(value)) return value.flatMap((each) => pathsIn(each, known, `${at}[]`));
  const members = Object.entries(value);
  return [at, ...members.flatMap(([name, each]) => pathsIn(each, known, at === '' ? name : `${at}.${name}`))];
}

const lastName = (path: string) => path.split('.').at(-1)!.replaceAll('[]', '');

describe.each(shapes)('%s', (endpoint, { operation, query, answer }) => {
  it('is called and asked as the interface has it', (context) => {
    if (!mounted.has(shape(endpoint))) context.skip();
    const own = described.get(shape(endpoint))!;
    if (operation !== null) expect(own.operationId).toBe(operation);
    const parameters = own.parameters.filter((each) => each.in === 'query').map((each) => each.name);
    expect(query.filter((name) => !parameters.includes(name))).toEqual([]);
  });

  it.skipIf(answer === null)(
    'answers with every member of the interface, of its type, and no other',
    async (context) => {
      if (!mounted.has(shape(endpoint)) || !rowOf(endpoint)) context.skip();
      const actual = await answerTo(endpoint);
      const expected = Object.entries(answer!).map(([path, type]): [string, string] => [
        RENAMED[path] ?? path,
        DIFFERENT[lastName(path)] ?? type,
      ]);
      const wrong = expected.flatMap(([path, type]) =>
        valuesAt(actual, path)
          .filter((value) => !isOfType(value, type))
          .map((value) => `${path} is ${JSON.stringify(value)} and no ${type}`),
      );
      expect(wrong).toEqual([]);
      const isList = !EMPTY.has(endpoint) && expected.some(([path]) => path === 'next_page_token');
      for (const [path, type] of isList ? expected : [])
        if (type === 'array' && !/[.[]/.test(path))
          expect(valuesAt(actual, `${path}[]`), `${path} shows something`).not.toEqual([]);
      const known = new Set(expected.map(([path]) => path));
      const more = pathsIn(actual, known).filter(
        (path) => path !== '' && !known.has(path) && !OURS.has(lastName(path)),
      );
      expect([...new Set(more)]).toEqual([]);
    },
  );
});
