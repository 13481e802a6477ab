import { readFile } from 'node:fs/promises';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mountedRoutes, startObservedService } from './mounted-routes.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<string, { readonly headers?: object; readonly content?: Readonly<Record<string, unknown>> }>
  >;
}
interface MediaType {
  readonly schema: Record<string, unknown>;
  readonly example?: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly style?: string;
  readonly schema: Record<string, unknown>;
}
interface Document {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const PUBLIC_ASSET = '/archivist/v2/publicassets/{uuid}';

let running: Awaited<ReturnType<typeof startObservedService>>;
let document: Document;
beforeAll(async () => {
  running = await startObservedService();
  document = (await running.anonymous.get('/openapi.json')).json as unknown as Document;
});
afterAll(() => running?.close());

const schemaOfBody = (path: string, method: string) =>
  document.paths[path]![method]!.requestBody!.content['application/json']!.schema;
const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

describe('the OpenAPI 3.1 document', () => {
  it('is valid for two validators that share no code', async () => {
    const copy = () => structuredClone(document) as unknown as Record<string, unknown>;
    expect(await new Validator().validate(copy())).toMatchObject({ valid: true });
    type Parsed = Parameters<typeof SwaggerParser.validate>[0];
    await expect(SwaggerParser.validate(copy() as unknown as Parsed)).resolves.toMatchObject({ openapi: '3.1.0' });
  });

  it('is compressed for clients that can read that, and not sent again to those that have it', async () => {
    const sent = await fetch(`${running.url}/openapi.json`, { headers: { 'accept-encoding': 'gzip' } });
    expect(sent.headers.get('content-encoding')).toBe('gzip');
    expect(sent.headers.get('content-type')).toBe('application/json');
    expect(sent.headers.get('cache-control')).toBe('public, max-age=300');
    expect(await sent.json()).toEqual(document);
    const plain = await fetch(`${running.url}/openapi.json`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(Number(plain.headers.get('content-length'))).toBeGreaterThan(Number(sent.headers.get('content-length')));
    const known = await running.anonymous.get('/openapi.json', { 'if-none-match': plain.headers.get('etag')! });
    expect([known.status, known.bytes.length]).toEqual([304, 0]);
  });

  it('describes every route that is mounted, and no other', async () => {
    const mounted = await mountedRoutes(running.url, running.mountedPaths);
    const described = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(described.sort()).toEqual([...new Set(mounted)].sort());
  });

  it('gives each operation a name of its own, a tag, and refusals', () => {
    const names = operations().map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    const tags = document.tags.map(({ name }) => name);
    expect(new Set(tags).size).toBe(tags.length);
    for (const { operation } of operations()) {
      expect(tags).toContain(operation.tags[0]);
      expect(operation.responses).toHaveProperty('default');
    }
  });

  it('names the Idempotency-Key for the requests that docs/api.md lists, and for no other', async () => {
    const taking = operations()
      .filter(({ operation }) => operation.parameters?.some(({ name }) => name === 'idempotency-key'))
      .map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    const page = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
    const [, section] = /^## Retries$([\s\S]*?)^## /m.exec(page)!;
    const listed = [...section!.matchAll(/^- `(POST \S+)`$/gm)].map((match) => match[1]);
    expect(taking.sort()).toEqual(listed.sort());
  });

  it('lists every content type of a public resource that it describes, whether a browser or a program asks', async () => {
    const asset = await running.owner.post('/archivist/v2/assets', { public: true, attributes: {} });
    const described = (path: string) => Object.keys(document.paths[path]!['get']!.responses['200']?.content ?? {});
    const answered = new Map<string, Set<string>>();
    for (const { path, method, operation } of operations()) {
      const address = path === PUBLIC_ASSET ? `/archivist/v2/public${asset.json['identity']}` : path;
      if (method !== 'get' || operation.security.length > 0 || address.includes('{')) continue;
      for (const accept of ['text/html,*/*;q=0.8', 'application/json', '*/*']) {
        const { status, headers } = await running.anonymous.get(address, { accept });
        const type = headers.get('content-type')?.split(';')[0];
        if (status !== 200 || type === undefined || described(path).length === 0) continue;
        expect([path, described(path)]).toEqual([path, expect.arrayContaining([type])]);
        answered.set(path, (answered.get(path) ?? new Set()).add(type));
      }
    }
    for (const path of [PUBLIC_ASSET, '/verifiabledata/tlog'])
      expect([path, answered.get(path)]).toEqual([path, new Set(['text/html', 'application/json'])]);
  });

  it('lists the status that a wrong id in the path is answered with', async () => {
    const wrong = operations().filter(({ path }) => path.includes('{'));
    const headers = { authorization: `Bearer ${running.owner.token}`, 'content-type': 'application/json' };
    const unlisted = wrong.map(async ({ path, method, operation }) => {
      const body = operation.requestBody ? { body: '{}' } : {};
      const address = running.url + path.replaceAll(/\{\w+\}/g, '%C2%84');
      const { status } = await fetch(address, { method: method.toUpperCase(), headers, redirect: 'manual', ...body });
      return [400, 404].includes(status) && !operation.responses[status] ? [`${method} ${path}: ${status}`] : [];
    });
    expect((await Promise.all(unlisted)).flat()).toEqual([]);
  });

  it('says which members the bodies of our extensions refuse, and no other body', () => {
    const closed = (path: string, method: string) => schemaOfBody(path, method)['additionalProperties'] === false;
    expect(closed('/archivist/iam/v1/webhooks', 'post')).toBe(true);
    expect(closed('/archivist/v2/assets', 'post')).toBe(false);
  });

  it('says which values the attributes of a request can have', () => {
    const bodies = operations().flatMap(({ path, method, operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema ?? {};
      const members = Object.entries(
        (schema['properties'] ?? {}) as Record<string, { anyOf?: [Record<string, unknown>] }>,
      );
      const attributes = members.filter(([name]) => /^(\w+_)?attributes$/.test(name));
      return attributes.map(([name, { anyOf }]) => [`${method} ${path} ${name}`, anyOf?.[0]['additionalProperties']]);
    });
    expect(bodies.length).toBe(6);
    for (const [member, values] of bodies)
      expect([member, values]).toEqual([member, { description: expect.stringMatching(/not a number/) }]);
  });

  it('describes an Idempotency-Key as the service accepts it', async () => {
    const { parameters } = document.paths['/archivist/v1/events']!['post']!;
    const { pattern, maxLength } = parameters.find(({ name }) => name === 'idempotency-key')!.schema;
    const fits = (key: string) => new RegExp(String(pattern)).test(key) && key.length <= Number(maxLength);
    for (const key of ['!', '~key~', 'k'.repeat(255), 'two words', 'k'.repeat(256)]) {
      const { status } = await running.owner.post('/archivist/v1/events', {}, { 'idempotency-key': key });
      expect([key, status]).toEqual([key, fits(key) ? 200 : 400]);
    }
  });

  it('describes UUIDs and domain names in either case, as the service accepts them', async () => {
    const { json } = await running.owner.post('/archivist/v2/assets', { attributes: {} });
    const [uuid, tenancy] = ['identity', 'tenant_identity'].map((name) =>
      String(json[name]).split('/')[1]!.toUpperCase(),
    );
    for (const [path, name] of [
      ['/archivist/v2/assets/{uuid}', uuid!],
      ['/archivist/v2/assets/{uuid}/events', uuid!],
      ['/archivist/v1/tenancies/{uuid}:publicinfo', tenancy!],
    ] as const) {
      const [{ schema }] = document.paths[path]!['get']!.parameters as [Parameter];
      expect([path, name]).toEqual([path, expect.stringMatching(String(schema['pattern']))]);
      const { status } = await running.owner.get(path.replace('{uuid}', name));
      expect([path, status]).toEqual([path, 200]);
    }
    const { verified_domain } = schemaOfBody('/archivist/operator/v1/tenancies', 'post')['properties'] as {
      verified_domain: { pattern: string };
    };
    expect('Example.COM').toMatch(new RegExp(verified_domain.pattern));
  });

  it('describes the id of an entry, and the address of a webhook, by their forms', async () => {
    for (const end of ['', '/statement', '/registration-policy']) {
      const path = `/entries/{id}${end}`;
      const [{ schema }] = document.paths[path]!['get']!.parameters as [Parameter];
      const pattern = new RegExp(String(schema['pattern']));
      for (const [id, expected] of [
        ['0199C2D0-0000-7000-8000-000000000001', 404],
        ['0199c2d0-0000-7000-8000-00000000000', 400],
        ['an-entry', 400],
      ] as const) {
        const { status } = await running.anonymous.get(path.replace('{id}', id));
        expect([path, id, pattern.test(id), status]).toEqual([path, id, expected === 404, expected]);
      }
    }
    const { url } = schemaOfBody('/archivist/iam/v1/webhooks', 'post')['properties'] as { url: object };
    expect(url).toMatchObject({ format: 'uri', maxLength: 2048 });
  });

  it('describes the form of alternatives, positions and seconds: what does not have it is refused', async () => {
    const list = '/archivist/v2/assets/{uuid}/events';
    const schemaOf = (name: string) => {
      const { schema } = document.paths[list]!['get']!.parameters.find((each) => each.name === name)!;
      return (schema['items'] ?? schema) as { pattern: string };
    };
    for (const [name, right, wrong] of [
      ['any', 'event_attributes.x=1', 'event_attributes.x'],
      ['mmr_index', '7', '-7'],
    ] as const) {
      const statuses = await Promise.all(
        [right, wrong].map(
          async (value) => (await running.owner.get(`${list.replace('{uuid}', '-')}?${name}=${value}`)).status,
        ),
      );
      const fits = [right, wrong].map((value) => new RegExp(schemaOf(name).pattern).test(value));
      expect([name, fits, statuses]).toEqual([name, [true, false], [200, 400]]);
    }
    const { time_period_seconds: seconds } = schemaOfBody('/archivist/v1/compliance_policies', 'post')[
      'properties'
    ] as Record<string, unknown>;
    expect(seconds).toMatchObject({ anyOf: [{ pattern: '^\\d{1,19}$' }, { type: 'null' }] });
  });

  it('names the headers that tell a client when to retry, how to authenticate, and which part it has', () => {
    const headers = {
      206: 'content-range',
      401: 'www-authenticate',
      416: 'content-range',
      429: 'retry-after',
      507: 'retry-after',
    };
    const described = operations().flatMap(({ operation: { operationId, responses } }) =>
      Object.entries(headers).flatMap(([status, name]) =>
        responses[status] ? [[operationId, status, Object.keys(responses[status].headers ?? {}).includes(name)]] : [],
      ),
    );
    expect(described.length).toBeGreaterThan(300);
    expect(described.filter(([, , named]) => !named)).toEqual([]);
  });

  it('lists the operations, behaviours and form of time that an event accepts', () => {
    expect(schemaOfBody('/archivist/v2/assets/{uuid}/events', 'post')['properties']).toMatchObject({
      operation: { enum: ['Record', 'StartTracking', 'StopTracking'] },
      behaviour: { enum: ['RecordEvidence', 'Builtin'] },
      timestamp_declared: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] },
    });
  });

  it('gives no schema the name of a global that generated clients use', () => {
    for (const name of ['Blob', 'File', 'FormData', 'Headers', 'Response', 'URLSearchParams'])
      expect(document.components.schemas).not.toHaveProperty(name);
  });

  it('says what every route answers with', () => {
    const silent = operations().flatMap(({ operation: { operationId, responses } }) =>
      ['200', '201'].some((status) => responses[status] && !responses[status].content) ? [operationId] : [],
    );
    expect(silent).toEqual([]);
    // A file has the type of what was uploaded.
    const download = document.paths['/archivist/v1/blobs/{uuid}']!['get']!;
    expect(Object.keys(download.responses['200']!.content!)).toEqual(['*/*']);
  });

  it('describes JSON by its members, never as bytes', () => {
    const bytes = operations().flatMap(({ operation: { operationId, requestBody, responses } }) =>
      [requestBody, ...Object.values(responses)].flatMap((each) => {
        const { schema } = (each?.content?.['application/json'] ?? { schema: {} }) as { schema: { format?: string } };
        return schema.format === 'binary' ? [operationId] : [];
      }),
    );
    expect(bytes).toEqual([]);
  });

  it('lists the values of a filter, and types every page_size as a number', () => {
    const list = document.paths['/archivist/v2/assets/{uuid}/events']!['get']!;
    const schemaOf = (name: string) => list.parameters.find((parameter) => parameter.name === name)?.schema;
    const sizes = operations().flatMap(({ path, operation }) =>
      (operation.parameters ?? []).flatMap(({ name, schema }) =>
        name === 'page_size' ? [[path, schema['type']]] : [],
      ),
    );
    expect(sizes.filter(([, type]) => type !== 'integer')).toEqual([]);
    expect(sizes.length).toBeGreaterThan(15);
    expect(schemaOf('confirmation_status')?.['enum']).toContain('CONFIRMED');
    expect(schemaOf('timestamp_accepted_since')).toEqual({ type: 'string', format: 'date-time' });
    const filter = list.parameters.find(({ name }) => name === 'event_attributes');
    expect(filter).toMatchObject({ style: 'deepObject', explode: true, schema: { type: 'object' } });
  });

  it('describes no parameter of a list, and no value of one, that the list refuses', async () => {
    const { json } = await running.owner.post('/archivist/v2/assets', { public: true, attributes: {} });
    const uuid = String(json['identity']).replace('assets/', '');
    const refused: string[] = [];
    for (const { path, method, operation } of operations()) {
      const address = path.replace('assets/{uuid}', `assets/${uuid}`);
      const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      if (method !== 'get' || address.includes('{') || !query.some(({ name }) => name === 'page_token')) continue;
      const pairs = query.flatMap((parameter) => acceptedPairs(parameter, query));
      const ask = async ([name, value]: [string, string]) => {
        const { status, json } = await running.owner.get(`${address}?${name}=${encodeURIComponent(value)}`);
        if (status === 400) refused.push(`${path}?${name}=${value}: ${json['description']}`);
      };
      await Promise.all(pairs.map(ask));
    }
    expect(refused).toEqual([]);
  });

  it('shows examples that the service accepts', async () => {
    const shown = operations().flatMap(({ path, method, operation }) => {
      const example = operation.requestBody?.content['application/json']?.example;
      return example === undefined ? [] : [{ path, method, example }];
    });
    expect(shown.length).toBeGreaterThan(9);
    const asset = await running.owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'vcon' } });
    const uuid = String(asset.json['identity']).replace('assets/', '');
    for (const { path, method, example } of shown) {
      expect(method).toBe('post');
      const answer = await running.owner.post(path.replace('{uuid}', uuid), example);
      expect([path, answer.status, answer.status === 200 ? undefined : answer.json]).toEqual([path, 200, undefined]);
    }
  });
});

/** Queries that a list must accept for this parameter. */
function acceptedPairs({ name, style, schema }: Parameter, all: readonly Parameter[]): [name: string, value: string][] {
  if (name === 'page_token') return [[name, '']];
  if (style === 'deepObject') return [[`${name}[x]`, '1']];
  if (name === 'any') return [[name, `${all.find((each) => each.style === 'deepObject')!.name}[x]=1`]];
  if (schema['format'] === 'date-time') return [[name, '2026-01-31T12:00:00Z']];
  const values = (schema['enum'] as string[] | undefined) ?? ['1'];
  return values.map((value) => [name, value]);
}
