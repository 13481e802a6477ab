import { request } from 'node:http';
import SwaggerParser from '@apidevtools/swagger-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/platform/errors.js';
import { refusalOf } from '../../src/platform/http/error-reply.js';
import { TimeLimitError } from '../../src/platform/time-limit.js';
import { type Client, startTestService, type TestService } from './test-service.js';

let running: TestService;
let owner: Client;
let asset: string;
beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
  asset = String((await owner.post('/archivist/v2/assets', {})).json['identity']);
});
afterAll(() => running?.close());

const ASSETS = '/archivist/v2/assets';
const eventBody = (more: Record<string, unknown>) => ({ operation: 'Record', behaviour: 'RecordEvidence', ...more });
const attributes = (value: unknown) => eventBody({ event_attributes: { field: value } });

/** What is sent, and what the description must name. */
const BODIES: [string, unknown, RegExp][] = [
  ['no JSON', '{"operation": ', /./],
  ['single quotes', "{'operation': 'Record'}", /./],
  ['an array', '[]', /./],
  ['null', 'null', /./],
  ['an unknown operation', eventBody({ operation: 'Delete' }), /^operation/],
  ['an operation of the service', eventBody({ operation: 'NewAsset', behaviour: 'AssetCreator' }), /^operation/],
  ['an operation of another behaviour', eventBody({ behaviour: 'Builtin' }), /^behaviour/],
  ['no operation', { behaviour: 'RecordEvidence' }, /operation/],
  ['a numeric operation', eventBody({ operation: 1 }), /operation/],
  ['a number', attributes(1), /field.*string/],
  ['a boolean', attributes(true), /field.*string/],
  ['a number deep down', attributes({ deep: ['x', { er: 2 }] }), /field.*string/],
  ['U+0000', attributes('a\u0000b'), /field/],
  ['U+0000 in a name', eventBody({ event_attributes: { 'a\u0000': 'x' } }), /event_attributes/],
  ['a lone surrogate', JSON.stringify(attributes('\ud800')), /field/],
  ['attributes as a list', eventBody({ event_attributes: ['x'] }), /event_attributes/],
  ['a jit_ attribute', eventBody({ event_attributes: { jit_x: 'x' } }), /jit_x/],
  ['a declared time that is none', eventBody({ timestamp_declared: 'yesterday' }), /^timestamp_declared/],
  ['U+0000 in the declared principal', eventBody({ principal_declared: { subject: '\u0000' } }), /principal_declared/],
  [
    'nesting without end',
    `{"operation":"Record","event_attributes":${'{"a":'.repeat(5000)}"x"${'}'.repeat(5000)}}`,
    /./,
  ],
];

describe('wrong bodies of an event create', () => {
  it.each(BODIES)('%s is a 400 that says where', async (_name, body, named) => {
    const answer = await owner.post(`/archivist/v2/${asset}/events`, body);
    expect(answer.status).toBe(400);
    expect(answer.json['error']).toBeTypeOf('string');
    expect(answer.json['description']).toMatch(named);
  });

  it('write nothing', async () => {
    const { json } = await owner.get(`/archivist/v2/${asset}/events`);
    expect(json['events']).toHaveLength(1);
  });
});

const QUERIES: [string, RegExp][] = [
  ['colour=red', /^colour/],
  ['page_size=many', /^page_size/],
  ['page_size=-1', /^page_size/],
  ['page_token=nonsense', /page_token/],
  ['tracked=MAYBE', /^tracked/],
  ['confirmation_status=SURE', /^confirmation_status/],
  ['attributes.=x', /attributes/],
  ['attributes.!=y', /^attributes/],
  ['attributes.x=%00', /attributes/],
  ['order_by=COLOUR', /^order_by/],
];

describe('wrong queries of an asset list', () => {
  it.each(QUERIES)('%s is a 400 that names the parameter', async (query, named) => {
    const answer = await owner.get(`${ASSETS}?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json['description']).toMatch(named);
  });
});

describe('wrong queries of the stream of events', () => {
  it.each(['', '1e3', '0x10', '0b11', '%207', '%2B5', '-1', '1.5', '86401', '1&seconds=2'])(
    'seconds=%s is a 400 that names the parameter',
    async (seconds) => {
      const answer = await owner.get(`/archivist/v1/events/stream?seconds=${seconds}`);
      expect(answer.status).toBe(400);
      expect(answer.json['description']).toMatch(/^seconds: must be /);
    },
  );
});

describe('wrong requests', () => {
  it('to an unknown path are a JSON 404, with the wrong method a 405 with Allow', async () => {
    const missing = await owner.get('/archivist/v9/assets');
    expect([missing.status, missing.json['error']]).toEqual([404, expect.any(String)]);
    const response = await fetch(`${running.url}${ASSETS}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${owner.token}` },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain('POST');
  });

  it('for an id that is no UUID are a 404', async () => {
    expect((await owner.get('/archivist/v2/assets/nonsense')).status).toBe(404);
    expect((await running.anonymous.get('/archivist/v2/publicassets/nonsense/events/nonsense')).status).toBe(404);
  });

  it('with a body beyond the limit are a 413', async () => {
    const answer = await owner.post(`/archivist/v2/${asset}/events`, attributes('x'.repeat(3 * 1024 * 1024)));
    expect(answer.status).toBe(413);
  });

  it('with a JSON body of any content type are understood', async () => {
    const body = JSON.stringify(attributes('x'));
    const answer = await owner.post(`/archivist/v2/${asset}/events`, body, { 'content-type': 'text/plain' });
    expect(answer.status).toBe(200);
  });

  it('cannot reach the prototype of anything', async () => {
    const body = `{"operation":"Record","behaviour":"RecordEvidence","event_attributes":{"__proto__":{"polluted":"yes"}}}`;
    const answer = await owner.post(`/archivist/v2/${asset}/events`, body);
    expect(answer.status).toBeLessThan(500);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });

  it('that break off leave the service well', async () => {
    await new Promise<void>((resolve) => {
      const broken = request(`${running.url}${ASSETS}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner.token}`, 'content-length': '1000' },
      });
      broken.on('error', () => resolve());
      broken.write('{"attributes":');
      setTimeout(() => broken.destroy(), 50);
    });
    expect((await running.anonymous.get('/readyz')).status).toBe(200);
  });
});

describe('a value that the database refuses', () => {
  it.each([
    ['SELECT $1::int4', ['99999999999'], /is a number outside the range that can be stored/],
    ['SELECT array_fill(0, ARRAY[$1::int])', [2_147_483_647], /is too large or too complex to be searched; make it sh/],
    ['SELECT $1::uuid', ['none'], /has a form that cannot be stored or searched/],
  ])('is a 400 that says why, without the value: %s', async (sql, values, says) => {
    const refused = await running.service.parts.database
      .inTransaction('system', (tx) => tx.query(sql, values))
      .catch(refusalOf);
    expect(refused).toMatchObject({ status: 400, description: expect.stringMatching(says) });
    expect((refused as ApiError).description).not.toContain(String(values[0]));
  });
});

it('what waits too long for a part of the service is a 503 that says when to try again', () => {
  expect(refusalOf(new TimeLimitError('the disk'))).toMatchObject({
    status: 503,
    description: 'A part of the service does not answer in time; try again shortly.',
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
  });
});

describe('the pages around the interface', () => {
  it('tell health, readiness, metrics and the interface', async () => {
    expect((await running.anonymous.get('/healthz')).status).toBe(200);
    expect((await running.anonymous.get('/metrics')).status).toBe(200);
    const page = await running.anonymous.get('/');
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const openapi = await running.owner.get('/archivist/v2/assets:openapi');
    expect(openapi.json['swagger']).toBe('2.0');
    expect(Object.keys(openapi.json['paths'] as object)).toContain('/archivist/v2/assets/{uuid}');
    expect((await running.owner.get('/archivist/v1/events:openapi')).json['swagger']).toBe('2.0');
  });

  it.each(['v2/assets', 'v1/events', 'v2/publicassets', 'iam/v1/appidp', 'v1/didweb', 'v1/verifiabledata'])(
    'describe %s in valid OpenAPI 2.0',
    async (name) => {
      const { json } = await running.anonymous.get(`/archivist/${name}:openapi`);
      await SwaggerParser.validate(json as never);
      expect((await running.anonymous.get(`/archivist/v2/openapi?interface=${name}`)).json).toBeTypeOf('object');
    },
  );
});
