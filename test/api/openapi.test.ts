import { existsSync, readdirSync, readFileSync } from 'node:fs';
import SwaggerParser from '@apidevtools/swagger-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { assetSchema } from '../../src/archivist/assets/asset.js';
import { assetEventSchema } from '../../src/archivist/events/asset-event.js';
import { assetFreeEventSchema } from '../../src/archivist/events/asset-free-event.js';
import { searchResultSchema } from '../../src/archivist/events/search-asset-free-events.js';
import { publicUrlSchema } from '../../src/archivist/public-url.js';
import { pageSchema } from '../../src/platform/listing/page-reply.js';
import { startObservedService } from './mounted-routes.js';
import { type TestService, template, until } from './test-service.js';

const FACTS = new URL('../../../shared/reference/openapi-facts/', import.meta.url);
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-0000000000cc';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
}
interface Operation {
  readonly operationId: string;
  readonly 'x-extension'?: true;
  readonly parameters: readonly { name: string; in: string; schema?: Schema; enum?: readonly string[] }[];
  readonly responses: Readonly<Record<string, { schema?: Schema }>>;
}
interface Document {
  readonly swagger: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly definitions: Readonly<Record<string, Schema>>;
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : [])),
  );

let running: TestService;
/** Of every document that is served. */
let names: string[];
beforeAll(async () => {
  const observed = await startObservedService();
  running = observed;
  names = observed.mountedPaths.flatMap((path) => /^\/archivist\/(.+):openapi$/.exec(path)?.[1] ?? []);
});
afterAll(() => running?.close());

const documentOf = async (name: string): Promise<Document> =>
  (await running.anonymous.get(`/archivist/${name}:openapi`)).json as unknown as Document;

describe('the OpenAPI documents', () => {
  it('are all valid, and the same by both of their addresses', async () => {
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      const document = await documentOf(name);
      const copy = structuredClone(document) as unknown as Parameters<typeof SwaggerParser.validate>[0];
      await expect(SwaggerParser.validate(copy), name).resolves.toMatchObject({ swagger: '2.0' });
      const other = await running.anonymous.get(`/archivist/v2/openapi?interface=${encodeURIComponent(name)}`);
      expect(other.json).toEqual(document);
    }
  });

  it.skipIf(!existsSync(FACTS))('are found by every name that the original gives them', async () => {
    const { paths } = JSON.parse(readFileSync(new URL('openapiv1.json', FACTS), 'utf8'));
    const listed = paths['/archivist/v2/openapi'].get.parameters[0].enum as string[];
    const files = readdirSync(FACTS).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
    for (const name of [...listed, ...files]) {
      const { status, json } = await running.anonymous.get(
        `/archivist/v2/openapi?interface=${encodeURIComponent(name)}`,
      );
      expect([name, status, json['swagger']]).toEqual([name, 200, '2.0']);
    }
  });

  it('name what the service reads: filters by attribute, values that are no filter, both forms of a body', async () => {
    const parametersOf = async (name: string, path: string, method = 'get') => {
      const all = operationsOf(await documentOf(name));
      return all.find((each) => each.path === path && each.method === method)!.operation.parameters;
    };
    const filters = async (name: string, path: string) =>
      (await parametersOf(name, path)).flatMap((each) => (each.name.endsWith('[string]') ? [each.name] : []));
    const ofEvents = ['event_attributes[string]', 'asset_attributes[string]', 'asset.attributes[string]'];
    expect(await filters('v2/assets', '/archivist/v2/assets')).toEqual(['attributes[string]']);
    expect(await filters('v2/assets', '/archivist/v2/assets/{uuid}/events')).toEqual(ofEvents);
    expect(await filters('v2/locations', '/archivist/v2/locations')).toEqual(['attributes[string]']);
    const policies = await parametersOf('v1/compliance_policies', '/archivist/v1/compliance_policies');
    expect(policies.find(({ name }) => name === 'compliance_type')?.enum).toContain('COMPLIANCE_TYPE_UNDEFINED');
    const permissions = await parametersOf('v2/locations', '/archivist/v2/locations/{uuid}/permissions', 'patch');
    const { schema } = permissions.find((each) => each.in === 'body')!;
    expect(Object.keys(schema?.properties ?? {})).toEqual(['permissions', 'subject_identities']);
  });

  it.skipIf(!existsSync(FACTS))(
    'have every query parameter of the original, with every value of its list',
    async () => {
      const shape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
      const one = (parameter: string) => parameter.replace('[string][string]', '[string]');
      let compared = 0;
      for (const file of readdirSync(FACTS).filter((each) => each.endsWith('.json'))) {
        const original = JSON.parse(readFileSync(new URL(file, FACTS), 'utf8')) as Document;
        const address = `/archivist/v2/openapi?interface=${encodeURIComponent(file.slice(0, -'.json'.length))}`;
        const ours = operationsOf((await running.anonymous.get(address)).json as unknown as Document);
        for (const { path, method, operation } of operationsOf(original)) {
          const same = ours.find((each) => each.method === method && shape(each.path) === shape(path));
          for (const { in: place, name, enum: values = [] } of operation.parameters ?? []) {
            if (place !== 'query') continue;
            const own = same?.operation.parameters.find((each) => each.name === one(name));
            expect(own, `${method} ${path} ${name}`).toBeDefined();
            const missing = values.filter((value) => own?.enum !== undefined && !own.enum.includes(value));
            expect(missing, `${method} ${path} ${name}`).toEqual([]);
            compared += 1;
          }
        }
      }
      expect(compared).toBeGreaterThan(50);
    },
  );

  it('have every path that the original has under the same name', async () => {
    for (const [name, path] of [
      ['appregistrationsv1', '/archivist/iam/v1/applications/{uuid}'],
      ['events', '/archivist/v1/events'],
      ['v2/assets/-/events/builtin', '/archivist/v2/assets/{uuid}/events'],
      ['publicattachmentsv2', '/archivist/v2/attachments/publicassets/{asset_uuid}/{uuid}'],
    ]) {
      const { json } = await running.anonymous.get(`/archivist/v2/openapi?interface=${encodeURIComponent(name!)}`);
      expect(Object.keys(json['paths'] as object), name).toContain(path);
    }
    expect((await running.anonymous.get('/archivist/v2/openapi?interface=constructor')).status).toBe(404);
  });

  it('describe the answer of every operation of the interface, and refusals everywhere', async () => {
    for (const name of names.filter((each) => each !== 'v1/scrapi'))
      for (const { operation } of operationsOf(await documentOf(name))) {
        const { operationId, responses } = operation;
        for (const [status, { schema }] of Object.entries(responses)) {
          const refusal = {
            $ref: `#/definitions/${/^Scitt_GetKeys?$/.test(operationId) ? 'ProblemDetails' : 'Error'}`,
          };
          if (Number(status) >= 400) expect([operationId, schema]).toEqual([operationId, refusal]);
          else if (Number(status) < 300 && !operation['x-extension'])
            expect([operationId, status, schema?.type]).toEqual([
              operationId,
              status,
              expect.stringMatching(/object|file/),
            ]);
        }
      }
  });

  it('mark proofs as ours, with an answer that is a file', async () => {
    let proofs = 0;
    for (const name of ['v2/assets', 'v1/events', 'v2/publicassets'])
      for (const { path, operation } of operationsOf(await documentOf(name))) {
        if (!/\/(receipt|signed-statement|transparent-statement)$/.test(path)) continue;
        proofs += 1;
        expect([path, operation['x-extension'], operation.responses['200']?.schema]).toEqual([
          path,
          true,
          { type: 'file' },
        ]);
      }
    expect(proofs).toBe(9);
  });
});

describe('real answers have the shape that the documents give them:', () => {
  const fits = (schema: z.ZodType, answer: { status: number; json: unknown }) => {
    expect(answer.status).toBe(200);
    expect(schema.safeParse(answer.json).error?.issues ?? []).toEqual([]);
  };

  it('assets and asset events, before and after they are CONFIRMED, and their public forms', async () => {
    const { owner, anonymous } = running;
    const attributes = { subject: SUBJECT, nested: { a: 'b' }, list: [{ c: 'd' }] };
    const asset = await owner.post('/archivist/v2/assets', { attributes, public: true });
    fits(assetSchema, asset);
    const base = `/archivist/v2/${String(asset.json['identity'])}`;
    const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(SUBJECT) };
    const created = await owner.post(`${base}/events`, event);
    fits(assetEventSchema, created);
    const path = `/archivist/v2/${String(created.json['identity'])}`;
    const confirmed = await until(
      () => owner.get(path),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      30_000,
    );
    expect(confirmed.json['confirmation_status']).toBe('CONFIRMED');
    fits(assetEventSchema, confirmed);
    fits(assetSchema, await owner.get(base));
    fits(pageSchema('assets', assetSchema), await owner.get('/archivist/v2/assets'));
    fits(pageSchema('events', assetEventSchema), await owner.get(`${base}/events`));
    fits(publicUrlSchema, await owner.get(`${base}:publicurl`));
    fits(publicUrlSchema, await owner.get(`${path}:publicurl`));
    const publicBase = base.replace('/assets/', '/publicassets/');
    fits(assetSchema, await anonymous.get(publicBase));
    fits(pageSchema('events', assetEventSchema), await anonymous.get(`${publicBase}/events`));
    fits(assetEventSchema, await anonymous.get(path.replace('/assets/', '/publicassets/')));
  });

  it('asset-free events', async () => {
    const { owner } = running;
    const created = await owner.post('/archivist/v1/events', { attributes: { subject: SUBJECT }, trails: ['a'] });
    fits(assetFreeEventSchema, created);
    const path = `/archivist/v1/${String(created.json['identity'])}`;
    const confirmed = await until(
      () => owner.get(path),
      (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
      30_000,
    );
    fits(assetFreeEventSchema, confirmed);
    fits(searchResultSchema, await owner.post('/archivist/v1/events/search', {}));
  });
});
