import { type ZodType, z } from 'zod';
import { documentPath, ERROR_SCHEMA, STATUS_MEANINGS } from './described-answers.js';
import { MASK } from './field-mask.js';
import { type AnswerHeader, headersOf, type Route, statusesOf } from './route.js';

type Json = Record<string, unknown>;

/** What each response header means. */
const HEADERS: Readonly<Record<AnswerHeader, Json>> = {
  'content-disposition': { type: 'string', description: 'The name under which to save the file' },
  'content-range': { type: 'string', description: 'Which part of the list or file this is' },
  location: { type: 'string', description: 'Absolute URL to request' },
  'retry-after': { type: 'integer', description: 'Seconds to wait before the next request' },
  'www-authenticate': { type: 'string', description: 'How to authenticate' },
  'x-total-count': { type: 'integer', description: 'Number of entries that were found' },
};

const FORM = 'multipart/form-data';

/** Any route may return these; they are described only where refusals have a form of their own. */
const OUR_FAULTS = [500, 503] as const;

/** Returns an OpenAPI 2.0 document of these routes, from the schemas that validate their requests. */
export function openApiDocument(
  routes: readonly Route[],
  about: { title: string; version: string; publicUrl: string },
): Json {
  const { host, protocol } = new URL(about.publicUrl);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = documentPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    swagger: '2.0',
    info: { title: about.title, version: about.version },
    host,
    schemes: [protocol.slice(0, -1)],
    consumes: ['application/json'],
    produces: ['application/json'],
    securityDefinitions: { bearer: { type: 'apiKey', name: 'authorization', in: 'header' } },
    paths,
    definitions: { Error: ERROR_SCHEMA, ...Object.fromEntries(routes.flatMap(refusalSchema)) },
  };
}

function refusalSchema({ refusal }: Route): [string, unknown][] {
  return refusal?.form ? [[refusal.form.name, refusal.form.schema]] : [];
}

function operation(route: Route): Json {
  const { rawResponse } = route;
  const form = route.refusal?.form;
  const statuses = [...new Set([...statusesOf(route), ...(form ? OUR_FAULTS : [])])].sort();
  const raw = route.requestType ?? (route.rawBody ? 'application/octet-stream' : []);
  const consumes = [route.formFile ? FORM : raw, route.carriedAs ? [FORM, 'application/json'] : []].flat();
  const page = route.pageForBrowsers ? ['application/json', 'text/html'] : [];
  const refused =
    form?.contentType ?? (rawResponse && statuses.some((status) => status >= 400) ? 'application/json' : []);
  const produces = [...new Set([rawResponse ?? (form ? 'application/json' : page), refused].flat())];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.extension ? { 'x-extension': true } : {}),
    ...(consumes.length > 0 ? { consumes } : {}),
    ...(produces.length > 0 ? { produces } : {}),
    ...(route.access === 'public' ? {} : { security: [{ bearer: [] }] }),
    parameters: [...pathParameters(route), ...queryParameters(route), ...mask(route), ...bodyParameter(route)],
    responses: Object.fromEntries(statuses.map((status) => [status, response(route, status)])),
  };
}

function response(route: Route, status: number): Json {
  const description = STATUS_MEANINGS[status] ?? 'Answer';
  const names = headersOf(route, status);
  const headers = Object.fromEntries(names.map((name) => [name, HEADERS[name]]));
  return { description, ...content(route, status), ...(names.length > 0 ? { headers } : {}) };
}

/** The schema of a response body, and its type, because OpenAPI 2.0 cannot give a type to one status only. */
function content(route: Route, status: number): Json {
  const { rawResponse } = route;
  const form = route.refusal?.form;
  if (status >= 400 && form)
    return { schema: { $ref: `#/definitions/${form.name}` }, 'x-content-type': form.contentType };
  if (status >= 400) return { schema: { $ref: '#/definitions/Error' } };
  if (rawResponse && status < 300)
    return {
      schema: { type: 'file' },
      ...(form && typeof rawResponse === 'string' ? { 'x-content-type': rawResponse } : {}),
    };
  if (status !== route.success && status !== 206) return {};
  return route.response ? { schema: schemaOf(route.response, 'output') } : {};
}

/** Every name in the path is a parameter, with or without a schema. */
function pathParameters(route: Route): Json[] {
  const described = new Map(fields(inputOf(route.params), 'path').map((parameter) => [parameter['name'], parameter]));
  const names = [...documentPath(route.path).matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
  return names.map((name) => described.get(name) ?? { name, in: 'path', required: true, type: 'string' });
}

/** Filters by attribute in the map form of the original's documents, in which the key stands in the brackets. */
function queryParameters(route: Route): Json[] {
  const written = inputOf(route.query);
  const prefixes = (written['x-attribute-filters'] ?? []) as string[];
  const filters = prefixes.map((prefix) => ({
    name: `${prefix.replace(/\.$/, '')}[string]`,
    in: 'query',
    required: false,
    type: 'string',
    description: `The value of an attribute, with its name in the brackets; \`${prefix}<name>\` is the same`,
  }));
  return [...fields(written, 'query'), ...filters];
}

function inputOf(schema: ZodType | undefined): Json {
  return schema ? schemaOf(schema, 'input') : {};
}

function fields(written: Json, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = written as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { type = 'string', enum: values, format, pattern, items } = property;
    const collectionFormat = type === 'array' ? 'multi' : undefined;
    const simple = Object.fromEntries(
      Object.entries({ type, enum: values, format, pattern, items, collectionFormat }).filter(
        ([, value]) => value !== undefined,
      ),
    );
    return { name, in: place, required: place === 'path' || required.includes(name), ...simple };
  });
}

/** Read by the pipeline, not by the route's own query. */
function mask(route: Route): Json[] {
  return route.method === 'PATCH' && route.body ? [{ name: MASK, in: 'query', required: false, type: 'string' }] : [];
}

function bodyParameter(route: Route): Json[] {
  if (route.body) return [{ name: 'body', in: 'body', required: true, schema: schemaOf(route.body, 'input') }];
  if (route.rawBody)
    return [{ name: 'body', in: 'body', required: true, schema: { type: 'string', format: 'binary' } }];
  if (route.formFile) return [{ name: route.formFile, in: 'formData', required: true, type: 'file' }];
  return [];
}

function schemaOf(schema: ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    target: 'draft-04',
    unrepresentable: 'any',
    io,
  }) as Json;
  return nullableAsExtension(described) as Json;
}

/**
 * OpenAPI 2.0 has neither null nor unions: nullable members are marked `x-nullable`, and a union of several shapes is
 * left open.
 */
function nullableAsExtension(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(nullableAsExtension);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf, type, propertyNames: _, ...rest } = node as Json & { anyOf?: Json[] };
  const mapped = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, nullableAsExtension(value)]));
  const types = [type ?? []].flat();
  const named = types.filter((each) => each !== 'null');
  const choices = (anyOf ?? []).filter((choice) => choice['type'] !== 'null');
  const nullable = named.length < types.length || choices.length < (anyOf ?? []).length;
  return {
    ...mapped,
    ...(named.length === 1 ? { type: nullableAsExtension(named[0]) } : {}),
    ...(choices.length === 1 ? (nullableAsExtension(choices[0]) as Json) : {}),
    ...(nullable ? { 'x-nullable': true } : {}),
  };
}
