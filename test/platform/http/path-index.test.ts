import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexPaths } from '../../../src/platform/http/path-index.js';

const REFUSED = '/refused/:id';
const PATHS = [
  REFUSED,
  '/things/:id\\:open',
  '/archivist/v2/things\\:openapi',
  '/entries',
  '/entries/:id',
  '/archivist/v2/things',
  '/archivist/v2/things/:id',
  '/archivist/v2/things/:id/parts/:part',
  '/archivist/v2/Others/fixed/path/deep',
  '/archivist/:version/any',
  '/files/*path',
  '/:root/below',
];

const REQUESTS = [
  ...['/entries', '/entries/', '/ENTRIES/x', '/entries/a%2Fb', '/things/7:open', '/things/7', '/archivist/v2/things'],
  ...['/archivist/v2/things:openapi', '/archivist/v2/things/1', '/Archivist/V2/Things/1/parts/2/', '/archivist/v9/any'],
  ...[
    '/archivist/v2/others/fixed/path/deep',
    '/archivist/v2/any',
    '/files/a/b/c',
    '/files',
    '/entries/below',
    '/',
    '//',
  ],
  ...[
    '/archivist//things',
    '/archivist/v2',
    '/below',
    '/x/below',
    '/archivist/v2/things/1?x=/entries',
    '/entries/%ff',
    '/refused/1',
  ],
];

describe('paths that are looked up by their first segments', () => {
  const answer = (path: string) => async (request: Request, response: Response) => {
    if (path === REFUSED) throw Object.assign(new Error('refused'), { status: 418 });
    response.json({ path, params: request.params });
  };
  const indexed = express().use(indexPaths(PATHS.map((path) => ({ path, handle: answer(path) }))));
  const plain = express();
  for (const path of PATHS) plain.all(path, answer(path));
  const refuse = (error: Error & { status: number }, _: Request, response: Response, _next: NextFunction) =>
    void response.status(error.status).json({ refused: error.message });
  const servers = [indexed, plain].map((app) => app.use(refuse).listen(0, '127.0.0.1'));
  beforeAll(() => Promise.all(servers.map((server) => server.listening || once(server, 'listening'))));
  afterAll(() => servers.forEach((server) => void server.close()));

  it.each(REQUESTS)('%s reaches the handler that Express finds without the index', async (target) => {
    const [ours, theirs] = await Promise.all(
      servers.map(async (server) => {
        const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${target}`);
        return { status: response.status, body: await response.text() };
      }),
    );
    expect(ours).toEqual(theirs);
  });
});
