import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { type ConserverDriver, conserverDriver, ownChain } from './conserver-driver.js';
import { eventually, freshVcon, type OpenBackend, openBackend, type Rig, startRig } from './plugin-rig.js';

const CHECK_EVERY_MS = 50;

/** A balancer of TCP connections that sends each to the first backend whose health check succeeds. */
class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  backends: string[] = [];
  #healthy: string[] = [];

  constructor() {
    this.#server = createServer((client) => this.#forward(client)).listen(0, '127.0.0.1');
    this.#timer = setInterval(() => void this.#check(), CHECK_EVERY_MS);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  isHealthy(url: string): boolean {
    return this.#healthy.includes(url);
  }

  async #check(): Promise<void> {
    const answers = await Promise.all(
      this.backends.map((url) => fetch(`${url}/healthz`, { headers: { connection: 'close' } }).catch(() => undefined)),
    );
    this.#healthy = this.backends.filter((_url, place) => answers[place]?.ok);
  }

  #forward(client: Socket): void {
    const [url] = this.#healthy;
    if (url === undefined) return void client.destroy();
    const backend = connect(Number(new URL(url).port), '127.0.0.1');
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

describe.skipIf(!redisUrl)('two receivers on one queue', () => {
  let open: OpenBackend;
  let conserver: ConserverDriver;
  let balancer: Balancer;
  let rigs: Rig[];

  beforeAll(async () => {
    open = await openBackend('Redis');
  });
  beforeEach(() => {
    conserver = conserverDriver(ownRedisUrl('plugin'));
    balancer = new Balancer();
    rigs = [];
  });
  afterEach(async () => {
    balancer.close();
    await Promise.all(rigs.map((rig) => rig.close()));
    await conserver.close();
    await open.empty();
  });
  afterAll(() => open.close());

  async function start(drainSeconds: number): Promise<Rig> {
    const rig = await startRig(open.backend, { settings: { drainSeconds }, pace: { firstMs: 60_000, mostMs: 60_000 } });
    rig.archivist.always('token', { status: 503 });
    rigs.push(rig);
    balancer.backends.push(rig.url);
    await eventually(() => balancer.isHealthy(rig.url));
    return rig;
  }

  it('are replaced one after the other without a vCon in the dead-letter list, and nothing is recorded twice', async () => {
    const [first, second] = [await start(1), await start(1)];
    const chain = ownChain([conserver.webhook(`${balancer.url}/chains/main/links/l/operations/vcon_created`)]);
    const submitted: string[] = [];
    let replacing = true;
    const flow = (async () => {
      while (replacing) {
        submitted.push(await conserver.submit(chain, freshVcon()));
        expect(await conserver.step(chain)).toBe('completed');
      }
    })();
    const flowing = () => {
      const before = submitted.length;
      return eventually(() => submitted.length > before + 3);
    };
    for (const rig of [first, second]) {
      await flowing();
      rigs.splice(rigs.indexOf(rig), 1);
      await rig.close();
      balancer.backends = balancer.backends.filter((url) => url !== rig.url);
      await start(1);
    }
    await flowing();
    replacing = false;
    await flow;
    expect(submitted.length).toBeGreaterThan(12);
    expect(await conserver.deadLetters(chain)).toEqual([]);
    const jobs = await open.backend.queue(OPERATION_QUEUE).getJobs(['waiting', 'active', 'delayed', 'failed']);
    const subjects = [...new Map(jobs.map((job) => [job.id, (job.data as OperationJob).subject])).values()];
    expect(subjects.sort()).toEqual(submitted.map((uuid) => `vcon://${uuid}`).sort());
  });
});
