import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService, until } from '../api/test-service.js';
import { serverUrl } from '../support/prerequisites.js';

describe.skipIf(!serverUrl)('a service whose backlog is full', () => {
  let running: TestService;
  beforeAll(async () => {
    // Nothing works on the logs.
    running = await startTestService({ ROLE: 'api', MAX_WAITING_ENTRIES: '3' });
  });
  afterAll(() => running?.close());

  const create = () => running.owner.post('/archivist/v2/assets', { attributes: {} });
  const backlog = async () => {
    const { status, json } = await running.anonymous.get('/readyz');
    return [status, (json['checks'] as Record<string, string>)['backlog']];
  };

  it('says so at /readyz and refuses writes, stays ready, and answers reads', async () => {
    expect(await backlog()).toEqual([200, 'ok']);
    const refused = await until(create, ({ status }) => status !== 200, 20_000);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await backlog()).toEqual([200, expect.stringMatching(/^FULL: .*writes are refused/)]);
    expect((await running.owner.get('/archivist/v2/assets')).status).toBe(200);
  });
});
