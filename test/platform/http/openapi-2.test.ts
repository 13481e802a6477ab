import SwaggerParser from '@apidevtools/swagger-parser';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../../src/platform/http/openapi-2.js';
import { route } from '../../../src/platform/http/route.js';

const routes = [
  route({
    method: 'POST',
    path: '/a/v2/things/:thing_id/parts',
    operationId: 'Parts_Create',
    summary: 'Create a part',
    access: 'token',
    success: 200,
    codes: [400, 401, 413, 429],
    params: z.object({ thing_id: z.string().regex(/^[0-9a-f]+$/) }),
    body: z.object({
      name: z.string().max(10),
      kind: z.enum(['A', 'B']).nullish(),
      tags: z.array(z.string()).max(4).nullable(),
      attributes: z.record(z.string(), z.unknown()).optional(),
      either: z.union([z.string(), z.number()]).optional(),
      deep: z.object({ flag: z.boolean().nullable() }).optional(),
      exact: z.literal('x').optional(),
    }),
    response: z.object({ identity: z.string(), note: z.string().nullable() }),
    handle: async () => ({}),
  }),
  route({
    method: 'GET',
    path: '/a/v2/things/:uuid\\:publicurl',
    operationId: 'Things_Url',
    summary: 'Where it is',
    access: 'public',
    extension: true,
    success: 200,
    codes: [206, 404],
    params: z.object({ uuid: z.union([z.literal('-'), z.string()]) }),
    query: z.looseObject({ page_size: z.string().optional(), form: z.enum(['map', 'draft']) }),
    rawResponse: 'application/cose',
    handle: async () => ({}),
  }),
  route({
    method: 'DELETE',
    path: '/a/v2/things/:uuid',
    operationId: 'Things_Delete',
    summary: 'No schema for its parameter',
    access: 'token',
    success: 200,
    codes: [],
    handle: async () => ({}),
  }),
  route({
    method: 'POST',
    path: '/a/token',
    operationId: 'Token',
    summary: 'A body that is not JSON',
    access: 'public',
    success: 200,
    codes: [],
    rawBody: true,
    handle: async () => ({}),
  }),
];

const document = openApiDocument(routes, { title: 'T', version: '1', publicUrl: 'https://a.example/base' }) as {
  paths: Record<string, Record<string, Record<string, unknown>>>;
};

describe('the OpenAPI document', () => {
  it('is a valid OpenAPI 2.0 document', async () => {
    const copy = structuredClone(document) as unknown as Parameters<typeof SwaggerParser.validate>[0];
    await expect(SwaggerParser.validate(copy)).resolves.toMatchObject({ swagger: '2.0', host: 'a.example' });
  });

  it('describes each path in the spelling of the interface', () => {
    expect(Object.keys(document.paths)).toEqual([
      '/a/v2/things/{thing_id}/parts',
      '/a/v2/things/{uuid}:publicurl',
      '/a/v2/things/{uuid}',
      '/a/token',
    ]);
  });

  it('marks what is ours and what needs a token', () => {
    const own = document.paths['/a/v2/things/{uuid}:publicurl']!['get']!;
    const theirs = document.paths['/a/v2/things/{thing_id}/parts']!['post']!;
    expect([own['x-extension'], own['security']]).toEqual([true, undefined]);
    expect([theirs['x-extension'], theirs['security']]).toEqual([undefined, [{ bearer: [] }]]);
  });

  it('has a body for every route that reads one', () => {
    const { parameters, consumes } = document.paths['/a/token']!['post']!;
    expect([parameters, consumes]).toEqual([
      [{ name: 'body', in: 'body', required: true, schema: { type: 'string', format: 'binary' } }],
      ['application/octet-stream'],
    ]);
  });

  it('says null as x-nullable, and knows no anyOf', () => {
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/anyOf|oneOf|"null"|\$schema|propertyNames/);
    const [, body] = document.paths['/a/v2/things/{thing_id}/parts']!['post']!['parameters'] as {
      schema: { properties: Record<string, unknown>; required: string[] };
    }[];
    expect(body!.schema.properties['kind']).toMatchObject({ type: 'string', enum: ['A', 'B'], 'x-nullable': true });
    expect(body!.schema.required).toEqual(['name', 'tags']);
  });

  it('lists the type of refusals beside that of bytes, and no type where every answer is JSON', () => {
    const produces = (path: string, method: string) => document.paths[path]![method]!['produces'];
    expect(produces('/a/v2/things/{uuid}:publicurl', 'get')).toEqual(['application/cose', 'application/json']);
    expect(produces('/a/v2/things/{thing_id}/parts', 'post')).toBeUndefined();
  });

  it('lists every status that a route may answer', () => {
    const { responses } = document.paths['/a/v2/things/{thing_id}/parts']!['post']!;
    expect(Object.keys(responses as object)).toEqual(['200', '400', '401', '413', '429', '507']);
  });
});
