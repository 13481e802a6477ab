import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeployment, type Deployment, type RunningProcess, requestToken } from './deployment.js';
import { until } from './journal.js';
import { type RudeBehaviour, rudeBehaviours } from './rude-behaviours.js';

/** Longer than any limit of the service: headers have ten seconds, a stalled body at most twenty. */
const ENDS_WITHIN_MS = 45_000;
const DRIP_EVERY_MS = 250;
/** Longer than the time in which a response must advance. */
const SIPS_MS = 33_000;
/** A caller that is not closed on is gone after so long. */
const PATIENCE_MS = 5_000;
const MOST = 200;

let deployment: Deployment;
let service: RunningProcess;
beforeAll(async () => {
  deployment = await createDeployment('embedded');
  service = await deployment.start({ CONNECTIONS_PER_ADDRESS: String(MOST), METRICS_TOKEN: 'a token for metrics' });
}, 120_000);
afterAll(() => deployment?.close());

interface Ending {
  /** 0 without an answer. */
  readonly status: number;
  /** The service closed the connection. */
  readonly closed: boolean;
}

/** Behaves, and resolves when the service closes the connection, or when there is nothing more to wait for. */
async function behave(url: string, behaviour: RudeBehaviour): Promise<Ending> {
  const { connections = 1, statuses } = behaviour;
  const endings = await Promise.all(Array.from({ length: connections }, () => behaveOnce(url, behaviour)));
  return endings.find(({ status }) => !statuses.includes(status)) ?? endings[0]!;
}

function behaveOnce(url: string, { bytes, drips, ends, sips, closes = false }: RudeBehaviour): Promise<Ending> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: ends === true });
    const dripping = drips ? setInterval(() => socket.write('x'), DRIP_EVERY_MS) : undefined;
    const sipping = sips ? setInterval(() => add(String(socket.read(1) ?? '')), DRIP_EVERY_MS) : undefined;
    const reading = sips ? setTimeout(() => readRest(), SIPS_MS) : undefined;
    const add = (text: string) => {
      answer += text;
    };
    const finish = (closed: boolean) => {
      clearInterval(dripping);
      clearInterval(sipping);
      clearTimeout(reading);
      clearTimeout(late);
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0), closed });
    };
    const late = setTimeout(() => finish(false), ENDS_WITHIN_MS);
    const readRest = () => {
      clearInterval(sipping);
      socket.on('data', (text: string) => {
        add(text);
        if (!closes) setTimeout(() => finish(false), 100);
      });
    };
    socket.setEncoding('latin1');
    if (!sips) readRest();
    socket
      .on('end', () => finish(true))
      .on('error', () => finish(true))
      .on('close', () => finish(true));
    if (ends) socket.end(bytes);
    else socket.write(bytes);
    if (!closes && !drips) socket.setTimeout(ENDS_WITHIN_MS - PATIENCE_MS);
  });
}

/** Time to answer a health check, in milliseconds. */
async function healthz(url: string): Promise<number> {
  const begun = performance.now();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  return performance.now() - begun;
}

describe('a rude caller', () => {
  it('is answered and cut off, and nobody else waits for it', async () => {
    const rows = rudeBehaviours(await requestToken(service.url));
    expect(rows.length).toBeGreaterThanOrEqual(40);
    const probes: number[] = [];
    let over = false;
    const probing = (async () => {
      while (!over) {
        probes.push(await healthz(service.url));
        await wait(20);
      }
    })();
    const open = [...rows];
    const ended = new Map<string, Ending>();
    const some = async () => {
      for (let row = open.shift(); row; row = open.shift()) ended.set(row.name, await behave(service.url, row));
    };
    await Promise.all(Array.from({ length: 24 }, some));
    over = true;
    await probing;
    for (const { name, statuses, closes } of rows) {
      const ending = ended.get(name)!;
      expect.soft([name, statuses.includes(ending.status) || ending.status]).toEqual([name, true]);
      if (closes) expect.soft([name, ending.closed]).toEqual([name, true]);
    }
    probes.sort((left, right) => left - right);
    expect(probes[Math.floor(probes.length * 0.5)]).toBeLessThan(100);
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
