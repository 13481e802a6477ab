import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createArchivistClient } from '../../plugins/archivist-client/archivist-client.js';
import { DeliverLater } from '../../plugins/archivist-client/delivery-failure.js';
import { systemClock } from '../../src/platform/clock.js';

const TOKEN = '/archivist/iam/v1/appidp/token';
const PAGE = '<!doctype html><title>Back soon</title>';
let server: Server;
let url: string;
let answer: { readonly type: string; readonly body: string };
let hasToken: boolean;

/** Answers every request with success, whatever was asked. */
beforeAll(async () => {
  server = createServer((request, response) => {
    const given = hasToken && request.url === TOKEN;
    response.setHeader('content-type', given ? 'application/json' : answer.type);
    response.end(given ? '{"access_token":"t","expires_in":60}' : answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const client = () => createArchivistClient({ url, clientId: 'i', clientSecret: 's', clock: systemClock });
const event = { operation: 'vcon_created', subject: 'vcon://1', attributes: {} } as never;

it.each([
  ['a page', { type: 'text/html; charset=utf-8', body: PAGE }],
  ['a page without a type of its own', { type: 'application/octet-stream', body: PAGE }],
  ['null', { type: 'application/json', body: 'null' }],
])('what a proxy answers with success in the place of the service is no answer: %s', async (_, given) => {
  answer = given;
  hasToken = false;
  await expect(client().findAsset('vcon://1')).rejects.toThrow(DeliverLater);
  hasToken = true;
  await expect(client().findAsset('vcon://1')).rejects.toThrow(DeliverLater);
  await expect(client().serviceKeys()).rejects.toThrow(DeliverLater);
  await expect(client().recordEvent('assets/1', event, 'k')).rejects.toThrow(DeliverLater);
});

it('a page is no receipt', async () => {
  answer = { type: 'text/html', body: PAGE };
  hasToken = true;
  await expect(client().transparentStatement('assets/1/events/1')).rejects.toThrow(DeliverLater);
});

it('an answer that is not JSON is told in words, not by the name of an error', async () => {
  answer = { type: 'application/octet-stream', body: PAGE };
  hasToken = true;
  await expect(client().findAsset('vcon://1')).rejects.toThrow(/: the answer cannot be read$/);
});
