import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessRow, accessTable, makeThings, requestOf, type Things, withFresh } from './access-table.js';
import { shape, startObservedService } from './mounted-routes.js';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}
interface Operation {
  readonly parameters: readonly ({ readonly name: string; readonly in: string; readonly schema?: Schema } & Schema)[];
}
/** A route of the service, what is said of it, and a request of the owner that it accepts. */
interface Endpoint {
  readonly route: string;
  readonly operation: Operation;
  readonly row: AccessRow;
}

/** Endpoints for which the interface itself has a 400. */
const listsBadRequest = new Set(
  (
    JSON.parse(readFileSync(new URL('../../fixtures/interface/endpoints.json', import.meta.url), 'utf8')) as {
      endpoints: { method: string; path: string; codes: number[] }[];
    }
  ).endpoints
    .filter(({ codes }) => codes.includes(400))
    .map(({ method, path }) => shape(`${method} ${path}`)),
);

let running: Awaited<ReturnType<typeof startObservedService>>;
let things: Things;
let endpoints: Endpoint[];
beforeAll(async () => {
  running = await startObservedService();
  things = await makeThings(running, running.owner);
  endpoints = [];
  for (const document of running.mountedPaths.filter((path) => path.endsWith(':openapi'))) {
    const { json } = await running.anonymous.get(document);
    for (const [path, item] of Object.entries(json['paths'] as Record<string, Record<string, Operation>>))
      for (const [method, operation] of Object.entries(item)) {
        const route = `${method.toUpperCase()} ${path}`;
        const row = accessTable.rows.find(
          (each) => shape(each.route) === shape(route) && [200, 206].includes(each.expect.at(-1)!),
        );
        if (row && path.startsWith('/archivist/')) endpoints.push({ route, operation, row });
      }
  }
});
afterAll(() => running?.close());

interface Sent {
  readonly url: string;
  readonly status: number;
  readonly description: string;
}

/** Sends the row's request with another URL or body. */
async function send(
  row: AccessRow,
  change: (request: { url: string; body: unknown }) => { url: string; body: unknown },
) {
  const { method, url, headers, body } = requestOf(row, await withFresh(things, row, running.owner));
  const isJson = headers['content-type'] === 'application/json';
  const changed = change({ url, body: isJson ? JSON.parse(body!) : body });
  const text = isJson ? JSON.stringify(changed.body) : (changed.body as string | undefined);
  const response = await fetch(`${running.url}${changed.url}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${running.owner.token}` },
    ...(text === undefined ? {} : { body: text }),
  });
  const answered = (await response.json().catch(() => ({}))) as { description?: string };
  return { url: changed.url, status: response.status, description: answered.description ?? '' } satisfies Sent;
}

/** What is wrong with each refusal that does not name the field. */
function unnamed(name: string, sent: readonly Sent[], expected = 400): string[] {
  return sent
    .filter(({ status, description }) => status !== expected || !description.includes(name))
    .map(({ url, status, description }) => `${url}: ${status} ${description}`);
}

describe('each parameter of each route', () => {
  it('of the path is refused when it is no id, by name: 404, or 400 where the interface lists it', async () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const { route, row } of endpoints)
      for (const [place, segment] of route.slice(route.indexOf('/')).split('/').entries()) {
        const name = /^\{(\w*uuid)\}/.exec(segment)?.[1];
        if (name === undefined) continue;
        tried += 1;
        const replaced = (id: string) =>
          send(row, ({ url, body }) => {
            const [path = '', query] = url.split('?');
            const segments = path.split('/');
            segments[place] = `${id}${/:[\w-]+$/.exec(segments[place]!)?.[0] ?? ''}`;
            return { url: `${segments.join('/')}${query === undefined ? '' : `?${query}`}`, body };
          });
        const sent = [await replaced('nonsense'), await replaced('%00'), await replaced("1'or'1")];
        wrong.push(...unnamed(name, sent, listsBadRequest.has(shape(route)) ? 400 : 404));
      }
    expect(tried).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });

  it('of the query is refused when it cannot be read, by name', async () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const { operation, row } of endpoints)
      for (const { name, in: place } of operation.parameters.filter((each) => each.in === 'query')) {
        if (place !== 'query') continue;
        tried += 1;
        const asked = await send(row, ({ url, body }) => {
          const [path, query = ''] = url.split('?');
          const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
          return { url: `${path}?${[...others, `${name}=%00`].join('&')}`, body };
        });
        // A filter that is written in brackets is named as it is read.
        wrong.push(...unnamed(name.replace(/\[(\w+)\]$/, '.$1'), [asked]));
      }
    expect(tried).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  it('of the body is refused when it is of another type, by name', async () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const { operation, row } of endpoints) {
      const members = operation.parameters.find((each) => each.in === 'body')?.schema?.properties ?? {};
      for (const [name, schema] of Object.entries(members))
        for (const value of valuesOfOtherTypes(schema)) {
          tried += 1;
          const changed = await send(row, ({ url, body }) => ({ url, body: { ...(body as object), [name]: value } }));
          wrong.push(...unnamed(name, [changed]).map((text) => `${text} for ${name}=${JSON.stringify(value)}`));
        }
    }
    expect(tried).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  it('of the body that is needed is refused when it is missing, by name', async () => {
    const wrong: string[] = [];
    let tried = 0;
    for (const { operation, row } of endpoints)
      for (const name of operation.parameters.find(isBody)?.schema?.required ?? []) {
        tried += 1;
        const without = await send(row, ({ url, body }) => ({ url, body: { ...(body as object), [name]: undefined } }));
        wrong.push(...unnamed(name, [without]));
      }
    expect(tried).toBeGreaterThan(10);
    expect(wrong).toEqual([]);
  });

  it('of the body may not be something else than an object', async () => {
    for (const { operation, row } of endpoints.filter((each) => each.operation.parameters.some(isBody))) {
      expect(operation.parameters.filter(isBody)).toHaveLength(1);
      for (const body of [[], 'text', 7, null]) {
        const { url, status } = await send(row, (request) => ({ url: request.url, body }));
        expect([url, body, status]).toEqual([url, body, 400]);
      }
    }
  });
});

function isBody(parameter: { readonly in: string }): boolean {
  return parameter.in === 'body';
}

function valuesOfOtherTypes({ type, format, enum: values }: Schema): unknown[] {
  const every: Readonly<Record<string, unknown>> = {
    string: 'x',
    integer: 7,
    boolean: true,
    array: ['x'],
    object: { x: 'y' },
  };
  if (type === undefined) return [];
  // A number in text may be sent as a number.
  const isNumber = type === 'number' || format === 'int64';
  const others = Object.entries(every).filter(([each]) => each !== type && !(isNumber && each === 'integer'));
  return [...others.map(([, value]) => value), ...(values ? ['NO_SUCH_VALUE'] : [])];
}
