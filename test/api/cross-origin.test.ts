import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from './test-service.js';

const DESK = 'https://desk.example';
const ASSETS = '/archivist/v2/assets';

let running: TestService;
beforeAll(async () => {
  running = await startTestService({ CORS_ORIGINS: `${DESK}, https://app.example` });
});
afterAll(() => running?.close());

const PUBLIC = '/archivist/v2/publicassets/00000000-0000-4000-8000-000000000000';

const preflight = (path: string, origin: string) =>
  fetch(running.url + path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });

describe('a page of another origin', () => {
  it('that is configured may send a token, and read the answer and its headers', async () => {
    const { headers } = await preflight(ASSETS, DESK);
    expect(headers.get('access-control-allow-origin')).toBe(DESK);
    expect(headers.get('access-control-allow-headers')).toMatch(/authorization, content-type, idempotency-key/);
    expect(headers.get('access-control-allow-methods')).toContain('POST');
    const answer = await running.owner.get(ASSETS, { origin: DESK });
    expect(answer.headers.get('access-control-allow-origin')).toBe(DESK);
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-total-count');
    expect(answer.headers.get('vary')).toContain('origin');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('may read why it was refused', async () => {
    const answer = await running.anonymous.get(ASSETS, { origin: DESK });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, DESK]);
  });

  it('that is not configured may not, and a similar name is not the same', async () => {
    for (const origin of ['https://desk.example.evil', 'http://desk.example', 'null']) {
      expect((await preflight(ASSETS, origin)).headers.get('access-control-allow-origin')).toBeNull();
      const answer = await running.owner.get(ASSETS, { origin });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    }
  });

  it('may read what is public, as before', async () => {
    const { headers } = await preflight('/.well-known/scitt-keys', 'https://anybody.example');
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('may send the token that it has to what is public, too, but only if it is configured', async () => {
    const allowed = async (origin: string) =>
      (await preflight(PUBLIC, origin)).headers.get('access-control-allow-headers')?.split(', ');
    expect(await allowed(DESK)).toContain('authorization');
    expect(await allowed('https://anybody.example')).not.toContain('authorization');
  });

  it('may send the headers by which clients of the original name themselves', async () => {
    for (const origin of [DESK, 'https://anybody.example']) {
      const { headers } = await preflight(PUBLIC, origin);
      const allowed = headers.get('access-control-allow-headers')?.split(', ');
      expect(allowed).toEqual(expect.arrayContaining(['datatrails-user-agent', 'datatrails-partner-id']));
    }
  });

  it('may read why something public is refused', async () => {
    const missing = await running.anonymous.get(PUBLIC, { origin: 'https://anybody.example' });
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
    const answer = await running.anonymous.get(ASSETS, { origin: 'https://anybody.example' });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });
});

describe('a member of a body that nobody knows', () => {
  it('is ignored on a route of the interface, and named in a header', async () => {
    const answer = await running.owner.post(ASSETS, { atributes: { a: 'b' }, 'ü\n': 1 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ignored-members')).toBe('atributes, %C3%BC%0A');
  });

  it('is named in a header also when its name is no text or very long', async () => {
    const answer = await running.owner.post(ASSETS, { '\ud800': 1, ['n'.repeat(100_000)]: 1 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ignored-members')).toBe(`%EF%BF%BD, ${'n'.repeat(128)}`);
  });

  it('is refused by name on a route of ours', async () => {
    const answer = await running.owner.post('/archivist/v1/events:bulk', { events: [{}], event: [] });
    expect([answer.status, answer.json['description']]).toEqual([
      400,
      'event: is not a member of this body; remove it or correct its name',
    ]);
  });
});
