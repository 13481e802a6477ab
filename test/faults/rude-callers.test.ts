import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { median } from '../bench/statistics.js';
import { behaveRudely, checksBeside } from './behave-rudely.js';
import { createDeployment, type Deployment, type RunningProcess, requestToken } from './deployment.js';
import { askMeanwhile, durationMs } from './health-checks.js';
import { until } from './journal.js';
import { rudeBehaviours } from './rude-behaviours.js';

const MOST = 200;
/** Checks of a service that nobody is rude to. */
const ALONE_MS = 3_000;

let deployment: Deployment;
let service: RunningProcess;
beforeAll(async () => {
  deployment = await createDeployment('embedded');
  service = await deployment.start({ CONNECTIONS_PER_ADDRESS: String(MOST), METRICS_TOKEN: 'a token for metrics' });
}, 120_000);
afterAll(() => deployment?.close());

describe('a rude caller', () => {
  it('is answered and cut off, and nobody else waits for it', async () => {
    const rows = rudeBehaviours(await requestToken(service.url));
    expect(rows.length).toBeGreaterThanOrEqual(40);
    const askingAlone = await askMeanwhile(service.url);
    await wait(ALONE_MS);
    const alone = median((await askingAlone.end()).map(durationMs));
    const asking = await askMeanwhile(service.url);
    const ended = new Map((await behaveRudely(service.url, rows)).map((row) => [row.name, row]));
    const checks = await asking.end();
    for (const { name, statuses, closes } of rows) {
      const { ending } = ended.get(name)!;
      expect.soft([name, checksBeside(ended.get(name)!, checks).length > 0]).toEqual([name, true]);
      expect.soft([name, statuses.includes(ending.status) || ending.status]).toEqual([name, true]);
      if (closes) expect.soft([name, ending.closed]).toEqual([name, true]);
    }
    // The slowest beside each behaviour is a row of the benchmark: here other tests use the processors too.
    expect(median(checks.map(durationMs))).toBeLessThan(100 + 5 * alone);
  }, 120_000);

  it('that opens more connections than an address may have loses the oldest idle ones', async () => {
    const sockets: Socket[] = [];
    const closed = new Set<number>();
    for (let number = 0; number < MOST + 50; number += 1) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.on('error', () => undefined).on('close', () => closed.add(number));
      await new Promise((resolve) => socket.once('connect', resolve));
      sockets.push(socket);
    }
    await until(
      async () => closed.size,
      (count) => count >= 50,
    );
    expect([...closed].sort((left, right) => left - right).slice(0, 50)).toEqual(
      Array.from({ length: 50 }, (_, number) => number),
    );
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  }, 60_000);

  it('reads no metrics without their token', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).toBe(401);
    const headers = { authorization: 'Bearer a token for metrics' };
    expect((await fetch(`${service.url}/metrics`, { headers })).status).toBe(200);
  });
});
