import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openReader } from '../../src/cli/archivist-reader.js';
import { UsageError } from '../../src/core/evidence/usage-error.js';
import { parseConfig } from '../../src/service/config/config.js';

type Answer = readonly [status: number, retryAfter?: string];

let answers: Answer[] = [];
let asked = 0;
let said: string;
let isCut: boolean;
const service = createServer((request, response) => {
  if (request.url!.endsWith('/token')) return void response.end('{"access_token":"token"}');
  asked += 1;
  const [status, retryAfter] = answers.shift() ?? [200];
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
  if (!isCut) return void response.end(said);
  response.write(said);
  setImmediate(() => response.destroy());
});

beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => void service.close());
beforeEach(() => {
  asked = 0;
  said = '{"said":"this"}';
  isCut = false;
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

it.each(['json', 'bytes'] as const)(
  'names the answer that was cut, and is no fault of the program: %s',
  async (form) => {
    isCut = true;
    const read = (await reader())[form]('/events?secret=1');
    await expect(read).rejects.toThrow(UsageError);
    await expect(read).rejects.toThrow(
      /^the answer 200 of the service at \/events cannot be read: .* Run the same command/,
    );
  },
);

it('names an answer that is not of the service, such as the page of a proxy', async () => {
  said = '<html>';
  await expect((await reader()).json('/events')).rejects.toThrow(/^the answer 200 of the service at \/events cannot/);
});
