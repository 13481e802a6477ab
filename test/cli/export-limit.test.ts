import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandLine } from '../support/command-line.js';

const UUID = '0192e8f5-0000-7000-8000-00000000000e';
const events = Array.from({ length: 6_667 }, (_, at) => ({ identity: `assets/a/events/${at}`, event_attributes: {} }));
const asked: string[] = [];
const service = createServer((request, response) => {
  asked.push(request.url!);
  if (request.url!.endsWith('/token')) response.end('{"access_token":"token"}');
  else response.end(JSON.stringify({ events: request.url!.startsWith('/archivist/v2/') ? events : [] }));
});

beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => void service.close());

it('refuses more events than one file can hold before it reads the evidence of any', async () => {
  const { exitCode, err } = await commandLine(['export', UUID], {
    ARCHIVIST_CLIENT_ID: '0192e8f5-0000-7000-8000-00000000000a',
    ARCHIVIST_CLIENT_SECRET: 'a'.repeat(64),
    ARCHIVIST_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
  });
  expect([exitCode, err]).toEqual([2, expect.stringContaining('6667 events are too many for one file')]);
  expect(asked.filter((path) => path.includes('/evidence'))).toEqual([]);
});
