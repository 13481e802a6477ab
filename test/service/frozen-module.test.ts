import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { requestToken, startTestService, type TestService } from '../api/test-service.js';
import { until } from '../faults/journal.js';
import { type P11KitServer, p11KitServer } from '../support/p11-kit-server.js';
import { p11kit, softhsm } from '../support/prerequisites.js';
import { makeSofthsmTokens, type SofthsmTokens } from '../support/softhsm-tokens.js';

/** Far above the limit for one signature, for a busy machine. */
const ANSWERS_WITHIN_MS = 90_000;

describe.skipIf(!softhsm || !p11kit)('a key module that stops to answer', () => {
  let tokens: SofthsmTokens;
  let server: P11KitServer;
  let running: TestService;
  beforeAll(async () => {
    tokens = await makeSofthsmTokens(['archive']);
    server = p11KitServer(join(inject('runFolder'), 'p11-frozen'), tokens.environment);
    await server.start();
    const provider = tokens.uri('archive').replace(softhsm!.modulePath, p11kit!.modulePath);
    running = await startTestService({ KEY_PROVIDER: provider });
  });
  afterAll(async () => {
    await server?.signal('SIGCONT').catch(() => undefined);
    await running?.close();
    await server?.stop();
    await tokens?.remove();
  });

  const token = () => {
    const { owner, ownerSecret, url } = running;
    const grant = { grant_type: 'client_credentials', client_id: owner.clientId, client_secret: ownerSecret };
    return requestToken(url, grant);
  };
  const line = async () =>
    String(((await running.anonymous.get('/readyz')).json['checks'] as Record<string, string>)['key_module']);
  const failures = async () => {
    const metrics = new TextDecoder().decode((await running.anonymous.get('/metrics')).bytes);
    return Number(/^archivist_outside_failures_total\{service="key_module"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };

  it('is named by /readyz and a metric; events are accepted meanwhile, and are signed when it answers again', async () => {
    expect((await token()).status).toBe(200);
    expect([await line(), await failures()]).toEqual(['ok', 0]);
    await server.signal('SIGSTOP');
    const asset = await running.owner.post('/archivist/v2/assets', {});
    expect(asset.status).toBe(200);
    const { status, json, headers } = await token();
    expect([status, json['error']]).toEqual([503, expect.any(String)]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    await until(line, (text) => text.startsWith('fails since '), ANSWERS_WITHIN_MS);
    expect(await failures()).toBeGreaterThan(0);
    // Files are read in the threads in which the module hangs: one is left for them.
    expect((await running.owner.get(`/archivist/v2/${String(asset.json['identity'])}`)).status).toBe(200);
    await server.signal('SIGCONT');
    await until(
      async () => (await token()).status,
      (answered) => answered === 200,
      ANSWERS_WITHIN_MS,
    );
    await until(line, (text) => text === 'ok', ANSWERS_WITHIN_MS);
    const events = `/archivist/v2/${String(asset.json['identity'])}/events`;
    await until(
      async () => (await running.owner.get(events)).json['events'] as { confirmation_status: string }[],
      (all) => all.length === 1 && ['CONFIRMED', 'UNEQUIVOCAL'].includes(all[0]!.confirmation_status),
      ANSWERS_WITHIN_MS,
    );
  }, 300_000);
});
