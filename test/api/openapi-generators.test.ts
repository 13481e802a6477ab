import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from './test-service.js';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly headers?: object; readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
type Schema = Readonly<Record<string, unknown>>;
interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let running: TestService;
let document: Document;
let operations: readonly Operation[];
beforeAll(async () => {
  running = await startTestService();
  document = (await running.anonymous.get('/openapi.json')).json as unknown as Document;
  operations = Object.values(document.paths).flatMap((item) => Object.values(item));
});
afterAll(() => running?.close());

/** Every object in the document with its place, but for examples. */
function* objects(node: unknown, place = ''): Generator<readonly [string, Schema]> {
  if (typeof node !== 'object' || node === null) return;
  yield [place, node as Schema];
  for (const [name, value] of Object.entries(node))
    if (name !== 'example' && name !== 'examples') yield* objects(value, `${place}/${name}`);
}

/** As a generated client may spell it, in whatever style its language has. */
const identifier = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
const shapes = ({ type, anyOf, oneOf }: Schema): unknown[] => {
  const types = Array.isArray(type) ? type : [];
  const schemas = [anyOf, oneOf].flatMap((each) => (Array.isArray(each) ? (each as Schema[]) : []));
  return [...types, ...schemas.map((schema) => schema['type'] ?? schema['$ref'])].filter((each) => each !== 'null');
};

describe('the OpenAPI 3.1 document, for generators of clients,', () => {
  it('gives no value two shapes, and none only null: some generators refuse that, or write code that does not compile', () => {
    const all = [...objects(document)];
    expect(all.filter(([, schema]) => shapes(schema).length > 1).map(([place]) => place)).toEqual([]);
    const nulls = all.filter(([place, { type }]) => type === 'null' && !place.includes('/anyOf/'));
    expect(nulls.map(([place]) => place)).toEqual([]);
  });

  it('gives the parameters of an operation names that stay different as identifiers', () => {
    const doubled = operations.filter(({ parameters }) => {
      const names = parameters.map(({ name }) => identifier(name));
      return new Set(names).size < names.length;
    });
    expect(doubled.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('describes filters by attribute, and alternatives, so that a client can send any number of them', () => {
    const list = operations.find(({ operationId }) => operationId === 'Assets_ListEvents')!;
    const named = (name: string) => list.parameters.find((parameter) => parameter.name === name);
    for (const name of ['event_attributes', 'asset_attributes'])
      expect(named(name)).toMatchObject({ style: 'deepObject', schema: { additionalProperties: { type: 'string' } } });
    expect(named('any')).toMatchObject({ schema: { type: 'array', items: { type: 'string' } } });
  });

  it('names the page of each list once, for every status that it is sent with', () => {
    const lists = operations.filter(({ responses }) => responses['206']?.content?.['application/json']);
    expect(lists.length).toBeGreaterThan(15);
    for (const { operationId, responses } of lists) {
      const page = { schema: { $ref: `#/components/schemas/${operationId}Page` } };
      expect([responses['200']!.content, responses['206']!.content]).toEqual([
        { 'application/json': page },
        { 'application/json': page },
      ]);
      expect(document.components.schemas).toHaveProperty(`${operationId}Page`);
    }
  });

  it('names no enumeration only by a member that has the name of its schema', () => {
    const enums = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties as Record<string, Schema>).flatMap(([member, { enum: values }]) =>
        values && identifier(member) === identifier(name) ? [name] : [],
      ),
    );
    expect(enums).toEqual([]);
  });

  it('describes what is not JSON as bytes, with the schema of their content', () => {
    const contents = operations.flatMap(({ responses }) => Object.values(responses).map(({ content = {} }) => content));
    const problems = contents.flatMap((content) => content['application/concise-problem-details+cbor'] ?? []);
    expect(problems.length).toBeGreaterThan(5);
    for (const { schema } of problems)
      expect(schema).toEqual({
        type: 'string',
        format: 'binary',
        contentSchema: { $ref: '#/components/schemas/ProblemDetails' },
      });
  });

  it('describes a statement in a form and in JSON by one schema', () => {
    const { content } = document.paths['/archivist/v1/scitt/entries']!['post']!.requestBody!;
    expect(content['multipart/form-data']).toEqual(content['application/json']);
  });

  it('describes the total of a search', async () => {
    const path = '/archivist/v1/events/search';
    const answer = await running.owner.post(path, {});
    expect(answer.headers.get('x-total-count')).toBe('0');
    expect(document.paths[path]!['post']!.responses['200']!.headers).toHaveProperty('x-total-count');
  });
});
