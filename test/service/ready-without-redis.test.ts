import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService, until } from '../api/test-service.js';
import { redisUrl } from '../support/prerequisites.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

/** Longer than the service takes to notice, and to connect again. */
const NOTICED_WITHIN_MS = 30_000;
/** What a load balancer usually waits for a probe. */
const PROBED_WITHIN_MS = 1_000;
/** A probe that waits for Redis always takes longer; one that does not only now and then, on a busy machine. */
const PROBES = 3;

describe.skipIf(!redisUrl)('a service whose Redis is away', () => {
  let proxy: TcpProxy;
  let running: TestService;
  beforeAll(async () => {
    const { hostname, port } = new URL(redisUrl!);
    proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    running = await startTestService({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
  });
  afterAll(async () => {
    await running?.close();
    await proxy?.close();
  });

  const ready = () => running.anonymous.get('/readyz');
  const queue = ({ json }: Awaited<ReturnType<typeof ready>>) => String((json['checks'] as { queue: string }).queue);
  const becomes = (state: RegExp) => until(ready, (answer) => state.test(queue(answer)), NOTICED_WITHIN_MS);

  it.each([
    ['cut', 'the connection was closed( \\([A-Z]+\\))?'],
    ['freeze', 'no answer in time'],
  ] as const)(
    'stays ready, names the reason and at once what waits, and accepts and confirms events (%s)',
    async (way, reason) => {
      proxy.become(way);
      const waits = 'captures, webhooks, witnesses and scheduled jobs wait';
      const away = await becomes(new RegExp(`^Redis: fails since [^ ]+Z: ${reason}; ${waits}$`));
      expect([away.status, away.json['ready']]).toEqual([200, true]);
      const took: number[] = [];
      for (let times = 0; times < PROBES; times += 1) {
        const asked = performance.now();
        await ready();
        took.push(performance.now() - asked);
      }
      expect(Math.min(...took)).toBeLessThan(PROBED_WITHIN_MS);
      const { owner } = running;
      const created = await owner.post('/archivist/v2/assets', { attributes: {} });
      const confirmed = () => owner.get(`/archivist/v2/${created.json['identity']}`);
      await until(confirmed, ({ json }) => json['confirmation_status'] === 'CONFIRMED', NOTICED_WITHIN_MS);
      const metrics = new TextDecoder().decode((await running.anonymous.get('/metrics')).bytes);
      expect(metrics).toMatch(/^archivist_outside_failing_since_timestamp_seconds\{service="queue"\} [1-9]/m);
      // A plugin is another matter: it answers for its own queue.
      expect((await fetch(`${running.service.conserverLinkUrl}/healthz`)).status).toBe(503);
      proxy.become('well');
      await becomes(/^Redis: ok$/);
    },
    2 * NOTICED_WITHIN_MS,
  );
});
