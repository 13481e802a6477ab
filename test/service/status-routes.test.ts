import { expect, it } from 'vitest';
import type { RequestContext } from '../../src/platform/http/route.js';
import type { ServiceHealth } from '../../src/service/service-health.js';
import { statusRoutes } from '../../src/service/status-routes.js';

const HEALTH: ServiceHealth = { ready: true, checks: { database: 'ok' }, halted_logs: [] };
const REQUEST = {} as RequestContext<unknown, unknown, unknown, undefined>;

it('looks once for all who ask for the state at the same time, and again for who asks later', async () => {
  const answers: ((health: ServiceHealth) => void)[] = [];
  const routes = statusRoutes({
    health: () => new Promise((resolve) => answers.push(resolve)),
    publicUrl: 'https://archivist.example',
    rootFingerprint: () => 'AAAA',
  });
  const ask = () => routes.filter(({ path }) => path !== '/healthz').map(({ handle }) => handle(REQUEST));

  const first = [...ask(), ...ask()];
  expect(answers.length).toBe(1);
  answers[0]!(HEALTH);
  expect((await Promise.all(first)).length).toBe(4);

  const later = ask();
  expect(answers.length).toBe(2);
  answers[1]!({ ...HEALTH, ready: false });
  expect(await later[0]).toMatchObject({ status: 503, body: { ready: false } });
});
