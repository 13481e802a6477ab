import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { type ConserverDriver, conserverDriver, ownChain } from './conserver-driver.js';
import { eventually, freshVcon, type OpenBackend, openBackend, type Rig, startRig } from './plugin-rig.js';

const CHECK_EVERY_MS = 50;

/** Longer than a health check takes on a busy machine: until then, the balancer sends requests. */
const DRAIN_SECONDS = 3;

/** A balancer of TCP connections that sends each to the first backend whose last health check succeeded. */
class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #healthy = new Map<string, boolean>();
  #closed = false;

  constructor() {
    this.#server = createServer((client) => this.#forward(client)).listen(0, '127.0.0.1');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  isHealthy(url: string): boolean {
    return this.#healthy.get(url) === true;
  }

  add(url: string): void {
    this.#healthy.set(url, false);
    void this.#check(url);
  }

  remove(url: string): void {
    this.#healthy.delete(url);
  }

  /** One check after the other of each backend: an answer that comes late must not replace a newer one. */
  async #check(url: string): Promise<void> {
    while (this.#healthy.has(url) && !this.#closed) {
      const answer = await fetch(`${url}/healthz`, { headers: { connection: 'close' } }).catch(() => undefined);
      if (this.#healthy.has(url)) this.#healthy.set(url, answer?.ok === true);
      await wait(CHECK_EVERY_MS);
    }
  }

  #forward(client: Socket): void {
    const url = [...this.#healthy.keys()].find((each) => this.isHealthy(each));
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
    this.#closed = true;
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

  async function start(): Promise<Rig> {
    const settings = { drainSeconds: DRAIN_SECONDS };
    const rig = await startRig(open.backend, { settings, pace: { firstMs: 60_000, mostMs: 60_000 } });
    rig.archivist.always('token', { status: 503 });
    rigs.push(rig);
    balancer.add(rig.url);
    await eventually(() => balancer.isHealthy(rig.url));
    return rig;
  }

  it('are replaced one after the other without a vCon in the dead-letter list, and nothing is recorded twice', async () => {
    const [first, second] = [await start(), await start()];
    const chain = ownChain([conserver.webhook(`${balancer.url}/chains/main/links/l/operations/vcon_created`)]);
    const submitted: string[] = [];
    let replacing = true;
    const flow = (async () => {
      while (replacing) {
        submitted.push(await conserver.submit(chain, freshVcon()));
        expect(await conserver.step(chain)).toBe('completed');
      }
    })();
    // If it fails while a receiver is being replaced, the next wait for it throws.
    flow.catch(() => undefined);
    const flowing = () => {
      const before = submitted.length;
      return Promise.race([flow, eventually(() => submitted.length > before + 3)]);
    };
    for (const rig of [first, second]) {
      await flowing();
      rigs.splice(rigs.indexOf(rig), 1);
      await rig.close();
      balancer.remove(rig.url);
      await start();
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
