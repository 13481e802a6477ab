import type { ZodType } from 'zod';
import { ERROR_CODES } from '../errors.js';
import { inPieces } from '../in-pieces.js';
import { documentPath, ERROR_SCHEMA, STATUS_MEANINGS } from './described-answers.js';
import { MASK } from './field-mask.js';
import { type AnswerHeader, headersOf, type RequestHeader, type Route, type RouteGroup, statusesOf } from './route.js';
import { type SchemaWriter, schemaWriter } from './schema-writer.js';

type Json = Record<string, unknown>;

interface DescribedApi {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly publicUrl: string;
  /** The token endpoint, relative to the base URL. */
  readonly tokenPath: string;
  /** Schemas that get a name of their own in the document, in every response that contains them. */
  readonly schemas: Readonly<Record<string, ZodType>>;
}

const ANSWER_HEADERS: Readonly<Record<AnswerHeader, Json>> = {
  'content-disposition': { description: 'The name under which to save the file', schema: { type: 'string' } },
  'content-range': { description: 'Which part of the list or file this is', schema: { type: 'string' } },
  location: { description: 'Absolute URL to request', schema: { type: 'string', format: 'uri' } },
  'retry-after': { description: 'Seconds to wait before the next attempt', schema: { type: 'integer' } },
  'www-authenticate': { description: 'How to authenticate', schema: { type: 'string' } },
  'x-total-count': { description: 'Number of entries that were found', schema: { type: 'integer' } },
};
const TOTAL_COUNT: Json = {
  description:
    'Number of entries in the whole list; at most one more than the server limit unless an exact count was requested',
  schema: { type: 'integer' },
};

const REQUEST_HEADERS: Readonly<Record<RequestHeader, Json>> = {
  'idempotency-key': {
    description: 'Makes a retry idempotent: the same key and body return the same response',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]*$' },
  },
  'x-request-total-count': {
    description: '`true`: count the whole list exactly, however long that takes',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  prefer: {
    description:
      '`respond-async`: respond at once; `wait=<seconds>`: wait at most that long for the receipt (RFC 7240)',
    schema: { type: 'string' },
  },
};

const SECURITY: Readonly<Record<Route['access'], readonly Json[]>> = {
  public: [],
  token: [{ bearer: [] }, { clientCredentials: [] }],
  operator: [{ operator: [] }],
};

const TOKEN_ERRORS = ['invalid_request', 'invalid_client', 'unsupported_grant_type'];

/**
 * One OpenAPI 3.1 document of every route, from the schemas that validate requests. Routes that extend the original
 * interface are marked `x-extension`. Other requests are served while it is made.
 */
export async function openApi3Document(groups: readonly RouteGroup[], about: DescribedApi): Promise<Json> {
  const describe = schemaWriter(about.schemas);
  const paths: Record<string, Json> = {};
  const all = groups.flatMap(({ title, routes }) => routes.map((route) => ({ title, route })));
  await inPieces(all, ({ title, route }) => {
    const path = documentPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, title, describe) };
  });
  const named = Object.fromEntries(await inPieces(describe.names, (name) => [name, describe.named(name)]));
  return {
    openapi: '3.1.0',
    info: {
      title: about.title,
      version: about.version,
      description: about.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: about.publicUrl }],
    tags: groups.map(({ title, routes }) => ({ name: title, description: commonPath(routes) })),
    paths,
    components: {
      schemas: { ...named, ...pageSchemas(groups, describe), ...ERROR_SCHEMAS, ...refusalSchemas(groups) },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        clientCredentials: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: about.publicUrl + about.tokenPath, scopes: {} } },
        },
        operator: { type: 'http', scheme: 'bearer', description: 'The token in KEYS_DIR/operator-token' },
      },
    },
  };
}

/** What the paths of these routes begin with. */
function commonPath(routes: readonly Route[]): string {
  const [first = [], ...others] = routes.map(({ path }) => documentPath(path).split('/'));
  const differs = first.findIndex((segment, place) => others.some((each) => each[place] !== segment));
  return (differs < 0 ? first : first.slice(0, differs)).join('/') || '/';
}

/** The codes have a name of their own: generated clients would name them as the member, which is as the schema. */
const ERROR_SCHEMAS: Json = {
  Error: {
    ...ERROR_SCHEMA,
    properties: {
      ...(ERROR_SCHEMA['properties'] as Json),
      error: { $ref: '#/components/schemas/ErrorCode' },
    },
  },
  ErrorCode: { type: 'string', enum: [...ERROR_CODES, ...TOKEN_ERRORS] },
};

function refusalSchemas(groups: readonly RouteGroup[]): Json {
  const forms = groups.flatMap(({ routes }) => routes.flatMap(({ refusal }) => refusal?.form ?? []));
  return Object.fromEntries(forms.map(({ name, schema }) => [name, schema]));
}

function operation(route: Route, tag: string, describe: SchemaWriter): Json {
  const body = requestBody(route, describe);
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [tag],
    ...(route.extension ? { 'x-extension': true } : {}),
    security: SECURITY[route.access],
    parameters: [...pathParameters(route, describe), ...queryParameters(route, describe), ...headerParameters(route)],
    ...(body ? { requestBody: body } : {}),
    responses: responses(route, describe),
  };
}

/** Every name in the path is a parameter, with the schema that checks it if there is one. */
function pathParameters(route: Route, describe: SchemaWriter): Json[] {
  const { properties = {} } = route.params ? describe.of(route.params, 'input') : {};
  const names = [...documentPath(route.path).matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const described = properties as Record<string, Json>;
  return names.map((name) => ({ name, in: 'path', required: true, schema: described[name] ?? { type: 'string' } }));
}

function queryParameters(route: Route, describe: SchemaWriter): Json[] {
  const written = route.query ? describe.of(route.query, 'input') : {};
  const { properties = {}, required = [] } = written as { properties?: Record<string, Json>; required?: string[] };
  const named = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: Object.keys(schema).length > 0 ? schema : { type: 'string' },
  }));
  const prefixes = ((written['x-attribute-filters'] ?? []) as string[]).filter((prefix) => /^\w+\.$/.test(prefix));
  return [...named, ...prefixes.map(attributeFilter), ...(takesMask(route) ? [MASK_PARAMETER] : [])];
}

/**
 * Free names with a prefix, in their spelling with brackets: each member of the object is a parameter of its own. A
 * prefix with a dot is not described: generated clients would give `asset.attributes` and `asset_attributes` one name.
 */
function attributeFilter(prefix: string): Json {
  const name = prefix.slice(0, -1);
  return {
    name,
    in: 'query',
    required: false,
    description: `Filters by attribute: \`${name}[<name>]=<value>\` or \`${prefix}<name>=<value>\`, any number of them. \`*\` matches any value.`,
    style: 'deepObject',
    explode: true,
    schema: { type: 'object', additionalProperties: { type: 'string' }, examples: [{ arc_display_type: '*' }] },
  };
}

const MASK_PARAMETER: Json = {
  name: MASK,
  in: 'query',
  required: false,
  description:
    'Members to change, separated by commas; a listed member that the body lacks is emptied. Default: all members of the body',
  schema: { type: 'string' },
};

function takesMask(route: Route): boolean {
  return route.method === 'PATCH' && route.body !== undefined;
}

function headerParameters(route: Route): Json[] {
  const names: RequestHeader[] = [...(route.requestHeaders ?? []), ...(isList(route) ? COUNTED : [])];
  return names.map((name) => ({ name, in: 'header', required: false, ...REQUEST_HEADERS[name] }));
}

const COUNTED: readonly RequestHeader[] = ['x-request-total-count'];

function isList(route: Route): boolean {
  return route.codes.includes(206) && route.response !== undefined && route.rawResponse === undefined;
}

function requestBody(route: Route, describe: SchemaWriter): Json | undefined {
  const examples = route.example === undefined ? {} : { example: route.example };
  if (route.body) {
    const written = describe.of(route.body, 'input');
    const schema = route.extension ? withoutOthers(written) : written;
    return { required: true, content: { 'application/json': { schema, ...examples } } };
  }
  if (route.formFile) return { required: true, content: form(route.formFile) };
  if (!route.rawBody) return undefined;
  const schema = route.rawBodySchema ? describe.of(route.rawBodySchema, 'input') : BINARY;
  const types = [route.requestType ?? 'application/octet-stream'].flat();
  const raw = Object.fromEntries(types.map((type) => [type, { schema, ...examples }]));
  return { required: true, content: { ...raw, ...(route.carriedAs ? carried(route.carriedAs) : {}) } };
}

/** The schema of a body in which members that it does not name are refused (unknown-members.ts). */
function withoutOthers(schema: Json): Json {
  const { properties, items, anyOf } = schema as { properties?: Json; items?: Json; anyOf?: Json[] };
  if (anyOf?.some(({ type }) => type === 'null')) return { ...schema, anyOf: anyOf.map(withoutOthers) };
  if (items) return { ...schema, items: withoutOthers(items) };
  if (!properties) return schema;
  const closed = Object.entries(properties).map(([name, member]) => [name, withoutOthers(member as Json)]);
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(closed) };
}

/** The raw body as a member or a part of that name: one schema for both, because generated clients have one type. */
function carried(name: string): Json {
  const base64 = { type: 'string', contentEncoding: 'base64' };
  const schema = { type: 'object', required: [name], properties: { [name]: base64 } };
  return { 'multipart/form-data': { schema }, 'application/json': { schema } };
}

function form(part: string): Json {
  return { 'multipart/form-data': { schema: { type: 'object', required: [part], properties: { [part]: BINARY } } } };
}

/** OpenAPI 3.1 describes bytes by their media type; the format is only for readers that know just 3.0. */
const BINARY: Json = { type: 'string', format: 'binary' };

function responses(route: Route, describe: SchemaWriter): Json {
  const told = statusesOf(route).map((status) => [status, response(route, status, describe)]);
  return { ...Object.fromEntries(told), default: refusal(route, 'Any other refusal') };
}

function response(route: Route, status: number, describe: SchemaWriter): Json {
  const description = STATUS_MEANINGS[status] ?? 'Answer';
  const headers: Json = Object.fromEntries(headersOf(route, status).map((name) => [name, ANSWER_HEADERS[name]]));
  if (isList(route) && status < 400) headers['x-total-count'] = TOTAL_COUNT;
  const told = Object.keys(headers).length > 0 ? { headers } : {};
  if (status >= 400) return { ...refusal(route, description), ...told };
  const content = answerContent(route, status, describe);
  return { description, ...told, ...(content ? { content } : {}) };
}

function answerContent(route: Route, status: number, describe: SchemaWriter): Json | undefined {
  const json = isList(route) ? pageOf(route) : route.response && describe.of(route.response, 'output');
  if (route.rawResponse && status < 300) {
    const schemaOf = (type: string) => (type === 'application/json' && json ? json : BINARY);
    return Object.fromEntries([route.rawResponse].flat().map((type) => [type, { schema: schemaOf(type) }]));
  }
  if (!json || (status !== route.success && status !== 206)) return undefined;
  const page = route.pageForBrowsers ? { 'text/html': { schema: { type: 'string' } } } : {};
  return { 'application/json': { schema: json }, ...page };
}

/** A page has the same name in the statuses 200 and 206: else generated clients have two types of one page. */
function pageOf(route: Route): Json {
  return { $ref: `#/components/schemas/${pageName(route)}` };
}

function pageSchemas(groups: readonly RouteGroup[], describe: SchemaWriter): Json {
  const lists = groups.flatMap(({ routes }) => routes.filter(isList));
  return Object.fromEntries(lists.map((route) => [pageName(route), describe.of(route.response!, 'output')]));
}

function pageName({ operationId }: Route): string {
  return `${operationId}Page`;
}

function refusal(route: Route, description: string): Json {
  const form = route.refusal?.form;
  const named = { $ref: `#/components/schemas/${form?.name ?? 'Error'}` };
  if (!form) return { description, content: { 'application/json': { schema: named } } };
  // Not JSON: generated clients can only hand over the bytes.
  return { description, content: { [form.contentType]: { schema: { ...BINARY, contentSchema: named } } } };
}
