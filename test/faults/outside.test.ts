import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { startTestWitness, type TestWitness } from '../api/test-witness.js';
import { freshVcon } from '../plugins/plugin-rig.js';
import { freePort } from '../support/free-port.js';
import { redisUrl, serverUrl } from '../support/prerequisites.js';
import { SPOILED, startTcpProxy, type TcpProxy, type Way } from '../support/tcp-proxy.js';
import { CLIENT, createDeployment, type Deployment, type RunningProcess } from './deployment.js';
import { Journal, until } from './journal.js';
import { redisCommand } from './private-servers.js';

const SPOILED_MS = 1_500;
const CAPTURE_EVERY_MS = 300;
/** Longer than the time limits of the service, retries included; the client gives up after 30 s. */
const ENDS_WITHIN_MS = 29_000;
/** An operation whose delivery has failed a few times waits up to a minute for its next. */
const RECOVERS_WITHIN_MS = 150_000;

/** The services that the deployment of this test depends on. */
const SERVICES = ['database', 'queue', 'backend', 'witness'] as const;
/** Those of a step are spoiled together. */
const STEPS: readonly (readonly (typeof SERVICES)[number][])[] = [
  ['database', 'witness'],
  ['queue', 'backend'],
];

/** The URL with another port of this machine. */
function through(url: string, { port }: TcpProxy, query: Record<string, string> = {}): string {
  const changed = new URL(url);
  changed.hostname = '127.0.0.1';
  changed.port = String(port);
  for (const [name, value] of Object.entries(query)) changed.searchParams.set(name, value);
  return changed.href;
}

const proxyTo = (url: string): Promise<TcpProxy> => {
  const { hostname, port } = new URL(url);
  return startTcpProxy({ host: hostname, port: Number(port) });
};

describe.skipIf(!serverUrl || !redisUrl)('the way to a service outside', () => {
  let deployment: Deployment;
  let witness: TestWitness;
  let proxies: Record<(typeof SERVICES)[number], TcpProxy>;
  let service: RunningProcess;
  let pluginUrl: string;
  beforeAll(async () => {
    deployment = await createDeployment('PostgreSQL');
    witness = await startTestWitness('witness.example');
    const [port, pluginPort] = [await freePort(), await freePort()];
    const { DATABASE_URL: database, REDIS_URL: redis } = deployment.environment;
    const [vkey, witnessUrl] = witness.address.split(' ');
    proxies = {
      database: await proxyTo(database!),
      queue: await proxyTo(redis!),
      backend: await proxyTo(`http://127.0.0.1:${port}`),
      witness: await proxyTo(witnessUrl!),
    };
    pluginUrl = `http://127.0.0.1:${pluginPort}`;
    service = await deployment.start({
      PORT: String(port),
      PLUGIN_PORT: String(pluginPort),
      // Less than the default, so that this test need not wait for it.
      DATABASE_URL: through(database!, proxies.database, { query_timeout: '4000' }),
      REDIS_URL: through(redis!, proxies.queue),
      ARCHIVIST_URL: `http://127.0.0.1:${proxies.backend.port}`,
      ARCHIVIST_CLIENT_ID: CLIENT.client_id,
      ARCHIVIST_CLIENT_SECRET: CLIENT.client_secret,
      WITNESSES: `${vkey} ${through(witnessUrl!, proxies.witness).replace(/\/$/, '')}`,
      WITNESS_SECONDS: '1',
    });
    const { logs } = (await (await fetch(`${service.url}/verifiabledata/tlog`)).json()) as { logs: { vkey: string }[] };
    witness.knownLogs.push(...logs.map((log) => log.vkey));
  }, 120_000);
  afterAll(async () => {
    await deployment?.close();
    // Jobs that are left would keep the plugins of other tests busy.
    if (deployment) await redisCommand(deployment.environment['REDIS_URL']!, (redis) => redis.flushdb());
    await Promise.all(Object.values(proxies ?? {}).map((proxy) => proxy.close()));
    await witness?.close();
  });

  const captured: string[] = [];

  /** As a conserver that retries what was refused. */
  async function capture(over: () => boolean): Promise<void> {
    const vcon = freshVcon();
    const { uuid } = JSON.parse(vcon) as { uuid: string };
    captured.push(uuid);
    const post = () =>
      fetch(`${pluginUrl}/operations/vcon_created?chain=main&link=l`, { method: 'POST', body: vcon }).then(
        ({ status }) => status,
        () => 0,
      );
    await until(post, (status) => status === 202, RECOVERS_WITHIN_MS);
    if (!over()) await wait(CAPTURE_EVERY_MS);
  }

  async function everyCaptureOnce(journal: Journal): Promise<void> {
    for (const uuid of captured) {
      const path = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(`vcon://${uuid}`)}`;
      const { json } = await until(
        () => journal.get(service.url, path),
        (answer) => ((answer.json['events'] ?? []) as unknown[]).length > 0,
        RECOVERS_WITHIN_MS,
      );
      expect([uuid, (json['events'] as unknown[]).length]).toEqual([uuid, 1]);
    }
  }

  async function spoil(step: readonly (typeof SERVICES)[number][], way: Way, journal: Journal): Promise<number> {
    let longest = 0;
    let over = false;
    const sending = async () => {
      while (!over) {
        const begun = performance.now();
        if (!(await journal.send(service.url))) await wait(20);
        longest = Math.max(longest, performance.now() - begun);
      }
    };
    const capturing = async () => {
      while (!over) await capture(() => over);
    };
    const working = Promise.all([sending(), sending(), capturing()]);
    await wait(100);
    for (const each of step) proxies[each].become(way);
    await wait(SPOILED_MS);
    for (const each of step) proxies[each].become('well');
    over = true;
    await working;
    return longest;
  }

  it('is cut, slow, truncated, garbled or frozen: nothing is lost or doubled, every request ends, and all goes on without a restart', async () => {
    let ended: number | NodeJS.Signals | null | undefined;
    void service.ended.then((how) => {
      ended = how;
    });
    onTestFailed(() => {
      // The end of it, because the record of a run may not have room for all.
      const wrote = service.output().slice(-20_000);
      process.stderr.write(`the service wrote:\n${wrote}\nand ${ended === undefined ? 'runs' : `ended: ${ended}`}\n`);
    });
    const journal = await Journal.begin(service.url);
    const longest: Record<string, number> = {};
    for (const way of SPOILED)
      for (const step of STEPS) {
        const name = `${step.join(' and ')}: ${way}`;
        longest[name] = Math.round(await spoil(step, way, journal));
        await until(
          () => journal.send(service.url),
          (acknowledged) => acknowledged,
          RECOVERS_WITHIN_MS,
        );
      }
    process.stdout.write(`longest request in milliseconds: ${JSON.stringify(longest)}\n`);
    for (const [name, ms] of Object.entries(longest)) expect.soft([name, ms < ENDS_WITHIN_MS]).toEqual([name, true]);
    await journal.sendAgain(service.url);
    await everyCaptureOnce(journal);
    // Asset-free events stop at CONFIRMED.
    const last = journal.acknowledged.findLast(({ path }) => path.includes('/assets/'))!;
    await until(
      () => journal.get(service.url, last.read!),
      ({ json }) => json['confirmation_status'] === 'UNEQUIVOCAL',
      RECOVERS_WITHIN_MS,
    );
    await until(
      async () => (await (await fetch(`${service.url}/readyz`)).json()) as { ready: boolean; checks: object },
      ({ ready, checks }) => ready && !JSON.stringify(checks).includes('fails since'),
      RECOVERS_WITHIN_MS,
    );
    // A fault of a service outside is never taken for one of our own.
    expect(service.output()).not.toContain('TypeError');
  }, 400_000);
});
