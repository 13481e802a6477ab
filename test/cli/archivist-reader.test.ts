import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openReader } from '../../src/cli/archivist-reader.js';
import { parseConfig } from '../../src/service/config/config.js';

type Answer = readonly [status: number, retryAfter?: string];

let answers: Answer[] = [];
let asked = 0;
const service = createServer((request, response) => {
  if (request.url!.endsWith('/token')) return void response.end('{"access_token":"token"}');
  asked += 1;
  const [status, retryAfter] = answers.shift() ?? [200];
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  response.end('{"said":"this"}');
});

beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => void service.close());
beforeEach(() => {
  asked = 0;
});

const reader = () =>
  openReader(
    parseConfig({
      ARCHIVIST_CLIENT_ID: '0192e8f5-0000-7000-8000-00000000000a',
      ARCHIVIST_CLIENT_SECRET: 'a'.repeat(64),
      ARCHIVIST_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    }),
  );

it('comes again when the service says when: it is busy, has sent enough, or has not sealed an event yet', async () => {
  answers = [
    [503, '1'],
    [429, '1'],
    [404, '1'],
  ];
  expect(await (await reader()).json('/events')).toEqual({ said: 'this' });
  expect(asked).toBe(4);
}, 30_000);

it.each<[string, Answer]>([
  ['no time', [404]],
  ['a time that is not near', [503, '3600']],
  ['a date', [503, 'Fri, 27 Nov 2026 10:00:00 GMT']],
  ['a time that is past', [429, '-1']],
])('gives up at once when the service refuses with %s', async (_, answer) => {
  answers = [answer];
  await expect((await reader()).json('/events?secret=1')).rejects.toThrow(
    `the service answered ${answer[0]} at /events`,
  );
  expect(asked).toBe(1);
});
