import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from './test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService({ METRICS_TOKEN: 'a token for metrics' });
});
afterAll(() => running?.close());

describe('metrics that a token guards', () => {
  it('are not on the plugin’s port either, which checks no such token', async () => {
    const plugin = running.service.conserverLinkUrl!;
    expect((await fetch(`${plugin}/healthz`)).status).toBe(200);
    expect((await fetch(`${plugin}/metrics`)).status).toBe(404);
    expect((await fetch(`${running.url}/metrics`)).status).toBe(401);
    const authorized = { headers: { authorization: 'Bearer a token for metrics' } };
    expect(await (await fetch(`${running.url}/metrics`, authorized)).text()).toContain('conserver_link_');
  });
});

describe('metrics that a reverse proxy hides', () => {
  const authorized = { headers: { authorization: 'Bearer a token for metrics' } };

  it.each(['/METRICS', '/metrics/', '//metrics', '/Metrics?x'])('are not at %s, which it lets pass', async (path) => {
    expect((await fetch(`${running.url}${path}`, authorized)).status).toBe(404);
  });

  it('are at their path with any query', async () => {
    expect((await fetch(`${running.url}/metrics?x=1`, authorized)).status).toBe(200);
  });
});
