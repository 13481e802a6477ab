import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import type { Express, Request, Response } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../src/app.js';
import { createExpress } from '../../../src/platform/http/create-express.js';
import { type HttpServer, listen } from '../../../src/platform/http/http-server.js';
import { type Route, route } from '../../../src/platform/http/route.js';
import { createLogger } from '../../../src/platform/logger.js';

setFlagsFromString('--allow-natives-syntax');
const haveSameMap: (left: object, right: object) => boolean = runInThisContext('(a, b) => %HaveSameMap(a, b)');

let server: HttpServer | undefined;
afterEach(() => server?.close());

const appWith = (served: Route): Express =>
  createApp([{ name: 'things', title: 'Things', routes: [served] }], [], {
    schemas: {},
    authenticateOperator: () => undefined,
    authenticate: async () => {
      throw new Error('no route asks who is calling');
    },
    logger: createLogger('fatal'),
    answered: () => undefined,
    seconds: () => 0,
    requireRightTime: () => undefined,
    requireRoom: () => undefined,
    publicUrl: 'http://127.0.0.1',
    version: '1',
    trustProxy: undefined,
    corsOrigins: [],
  });

describe('the messages of an Express application', () => {
  it('share one hidden class, whatever Express and the routes have set on them', async () => {
    const seen: [Request, Response][] = [];
    const app = appWith(
      route({
        method: 'POST',
        path: '/things/:id',
        operationId: 'Post',
        summary: 'Post',
        access: 'public',
        success: 200,
        codes: [],
        params: z.object({ id: z.string() }),
        body: z.object({ a: z.string() }),
        handle: async ({ request, body }) => {
          seen.push([request as Request, (request as Request).res!]);
          return { body };
        },
      }),
    );
    server = await listen(app, { host: '127.0.0.1', port: 0 });
    const sent = { method: 'POST', body: '{"a":"b"}' };
    for (let count = 0; count < 40; count += 1) await (await fetch(`${server.url}/things/${count}`, sent)).text();
    const [last, ...others] = seen.reverse().slice(0, 10);
    for (const [request, response] of others) {
      expect(haveSameMap(request, last![0])).toBe(true);
      expect(haveSameMap(response, last![1])).toBe(true);
    }
  });

  it('keep what Express gives them', async () => {
    const app = createExpress();
    app.set('query parser', 'simple');
    app.get('/things/:id', (request, response) => {
      response.json({ app: request.app === app && response.app === app, ...request.params, ...request.query });
    });
    server = await listen(app, { host: '127.0.0.1', port: 0 });
    expect(await (await fetch(`${server.url}/things/a?b=c`)).json()).toEqual({ app: true, id: 'a', b: 'c' });
  });
});
