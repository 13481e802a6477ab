import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  concrete,
  type DescribedRoute,
  describedRoutes,
  mountedRoutes,
  shape,
  startObservedService,
} from './mounted-routes.js';

/** One line of fixtures/interface/endpoints.json, which says what its members mean. */
interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly success: number;
  readonly codes: readonly number[];
  readonly added: readonly number[];
  readonly state?: 'not there yet';
}

const table = JSON.parse(readFileSync(new URL('../../fixtures/interface/endpoints.json', import.meta.url), 'utf8')) as {
  endpoints: Endpoint[];
  around: string[];
};
const nameOf = (route: { method: string; path: string }) => `${route.method} ${shape(route.path)}`;
const named = (endpoints: Endpoint[]) => endpoints.map((each): [string, Endpoint] => [nameOf(each), each]);
const built = table.endpoints.filter((endpoint) => endpoint.state === undefined);
const missing = table.endpoints.filter((endpoint) => endpoint.state === 'not there yet');

let running: Awaited<ReturnType<typeof startObservedService>>;
let mounted: ReadonlySet<string>;
let described: ReadonlyMap<string, DescribedRoute>;
beforeAll(async () => {
  running = await startObservedService();
  mounted = new Set((await mountedRoutes(running.url, running.mountedPaths)).map(shape));
  const documents = await describedRoutes(running.url, running.mountedPaths);
  described = new Map(documents.map((route) => [nameOf(route), route]));
});
afterAll(() => running?.close());

describe('an endpoint of the interface that is built', () => {
  it.each(named(built))('%s is mounted and described with its statuses, no more and no fewer', (name, endpoint) => {
    expect(mounted).toContain(name);
    const statuses = new Set([endpoint.success, ...endpoint.codes, ...endpoint.added]);
    expect(described.get(name)?.statuses).toEqual([...statuses].sort());
    expect(described.get(name)?.extension).toBe(false);
  });

  it('adds a status only where the interface does not list it', () => {
    const twice = table.endpoints.filter(({ codes, added }) => added.some((code) => codes.includes(code)));
    expect(twice).toEqual([]);
  });
});

describe.runIf(missing.length > 0)('an endpoint of the interface that is not there yet', () => {
  it.each(named(missing))('%s is not mounted and answers so', async (name, { method, path }) => {
    expect(mounted).not.toContain(name);
    const headers = { authorization: `Bearer ${running.owner.token}` };
    const answer = await fetch(`${running.url}${concrete(path)}`, { method, headers });
    // 405; or 404 where the path fits another endpoint, whose id it would be, and is no id.
    const swallowed = running.mountedPaths.some((each) => new RegExp(`^${pattern(each)}$`).test(concrete(path)));
    expect(swallowed ? [404, 405] : [404]).toContain(answer.status);
  });
});

describe('what is mounted', () => {
  it('is an endpoint of the interface, an extension that says so, or stands around the interface', () => {
    const known = new Set([
      ...table.endpoints.map(nameOf),
      ...table.around,
      ...running.mountedPaths.filter(isDocument).map((path) => `GET ${path}`),
    ]);
    expect([...mounted].filter((name) => !known.has(name) && !described.get(name)?.extension)).toEqual([]);
  });

  it('is all that the documents describe', () => {
    expect([...described.keys()].filter((name) => !mounted.has(name))).toEqual([]);
  });

  it('has everything that stands around the interface', () => {
    expect(table.around.filter((name) => !mounted.has(name))).toEqual([]);
  });
});

describe('the table', () => {
  it('has each endpoint once, and no state but one', () => {
    const names = table.endpoints.map(nameOf);
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
    expect(built.length + missing.length).toBe(names.length);
  });
});

function isDocument(path: string): boolean {
  return path.endsWith(':openapi');
}

function pattern(path: string): string {
  return path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
}
