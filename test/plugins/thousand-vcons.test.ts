import { createHash, randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { hasRedis, type PrivateServer, privateRedis } from '../faults/private-servers.js';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { type FaultyProxy, startFaultyProxy, type Way } from './faulty-proxy.js';
import { eventually, freshVcon } from './plugin-rig.js';

const VCONS = 1_000;
const LANES = 8;
/** So many of eight lanes go by the stream, as the wheel's link does. */
const STREAM_LANES = 3;
const LISTENS = /^The conserver plugin listens on (http:\S+), for/m;
const LONG = 420_000;

interface Sent {
  readonly subject: string;
  readonly payload: string;
  readonly lane: number;
}

interface Recorded {
  readonly identity: string;
  readonly asset_identity: string;
  readonly event_attributes: Readonly<Record<string, string>>;
}

/** A plugin that is started again whenever it was killed; its address changes. */
class Restarted {
  url = '';
  kills = 0;
  #program: BuiltProgram | undefined;
  readonly #environment: Record<string, string>;

  constructor(environment: Record<string, string>) {
    this.#environment = environment;
  }

  async start(): Promise<void> {
    // A Redis that is being restarted refuses a plugin that starts at that moment.
    for (;;) {
      this.#program = startBuilt('cli/vcon-archivist', this.#environment, ['plugin']);
      const listening = await this.#program.says(LISTENS).catch(() => undefined);
      if (listening) {
        this.url = listening[1]!;
        return;
      }
      await wait(200);
    }
  }

  async kill(): Promise<void> {
    this.kills += 1;
    this.#program!.signal('SIGKILL');
    await this.#program!.ended;
    await this.start();
  }
}

describe.skipIf(!hasRedis())('a thousand vCons', () => {
  let folder: string;
  let redis: PrivateServer;
  let service: TestService;
  let proxy: FaultyProxy;
  let plugins: Restarted[];
  /** Another one for a second attempt: what the first has left under way does not count. */
  let chain: string;
  let attempts = 0;
  const eventsOfChain = () => `/archivist/v2/assets/-/events?event_attributes.conserver_chain=${chain}`;

  beforeEach(() => {
    attempts += 1;
    // A long number would look like a telephone number, and be recorded as a hash.
    chain = `thousand-${attempts}`;
  });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'thousand-'));
    redis = await privateRedis(join(folder, 'redis'));
    service = await startTestService({ PLUGIN_PORT: '0' });
    proxy = await startFaultyProxy(service.url);
    const { clientId, clientSecret } = service.service.firstOwner!;
    plugins = Array.from({ length: 2 }, (_, place) => {
      return new Restarted({
        REDIS_URL: redis.url,
        CONSERVER_REDIS_URL: redis.url,
        DATA_DIR: join(folder, `plugin-${place}`),
        PLUGIN_PORT: '0',
        PLUGIN_RECEIPTS: 'off',
        PLUGIN_BULK: place === 0 ? 'on' : 'off',
        ARCHIVIST_URL: proxy.url,
        ARCHIVIST_CLIENT_ID: clientId,
        ARCHIVIST_CLIENT_SECRET: clientSecret,
        LOG_LEVEL: 'silent',
      });
    });
    await Promise.all(plugins.map((plugin) => plugin.start()));
  });
  afterAll(async () => {
    await killBuilt();
    await proxy?.close();
    await service?.close();
    await redis?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** As a conserver whose dead letters are replayed until the plugin takes them. */
  async function byWebhook(vcon: string): Promise<void> {
    for (;;) {
      const plugin = plugins[randomInt(plugins.length)]!;
      const target = `${plugin.url}/chains/${chain}/operations/vcon_created`;
      const answer = await fetch(target, { method: 'POST', body: vcon, signal: AbortSignal.timeout(5_000) }).catch(
        () => undefined,
      );
      if (answer?.status === 202) return;
      await wait(50);
    }
  }

  async function byStream(client: Redis, uuid: string, hash: string): Promise<void> {
    const record = { version: '1', method: 'link', operation: 'vcon_created', uuid, hash, chain };
    for (;;) {
      const id = await client.xadd('vcon-evidence', '*', ...Object.entries(record).flat()).catch(() => undefined);
      if (id) return;
      await wait(50);
    }
  }

  async function sendAll(): Promise<Sent[]> {
    const sent: Sent[] = [];
    const client = new Redis(redis.url, { maxRetriesPerRequest: 0 });
    client.on('error', () => undefined);
    const lane = async (place: number) => {
      for (let count = place; count < VCONS; count += LANES) {
        const vcon = freshVcon();
        const uuid = JSON.parse(vcon).uuid as string;
        const payload = createHash('sha256').update(vcon).digest('hex');
        if (place < STREAM_LANES) await byStream(client, uuid, payload);
        else await byWebhook(vcon);
        sent.push({ subject: `vcon://${uuid}`, payload, lane: place });
        await wait(40);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, place) => lane(place)));
    client.disconnect();
    return sent;
  }

  async function recordedCount(): Promise<number> {
    const { headers } = await service.owner.get(`${eventsOfChain()}&page_size=1`, { 'x-request-total-count': 'true' });
    return Number(headers.get('x-total-count'));
  }

  async function recorded(): Promise<Recorded[]> {
    const events: Recorded[] = [];
    let path = `${eventsOfChain()}&page_size=500`;
    for (;;) {
      const { events: page, next_page_token: token } = (await service.owner.get(path)).json as {
        events: Recorded[];
        next_page_token: string;
      };
      events.push(...page);
      if (!token) return events;
      path = `/archivist/v2/assets/-/events?page_token=${encodeURIComponent(token)}&page_size=500`;
    }
  }

  async function disturb(over: () => boolean): Promise<{ redisCrashes: number }> {
    const ways: Way[] = ['down', 'slow', 'lost', 429, 500, 503];
    let redisCrashes = 0;
    for (let round = 0; !over(); round += 1) {
      proxy.become(ways[round % ways.length]!);
      await wait(700);
      proxy.become('well');
      if (round % 2 === 0) await plugins[randomInt(plugins.length)]!.kill();
      if (round % 4 === 1) {
        await redis.crash();
        redisCrashes += 1;
      }
      await wait(randomInt(300));
    }
    return { redisCrashes };
  }

  it(
    'make exactly a thousand events, none doubled, each with its capture sequence, whatever dies meanwhile',
    async () => {
      const begun = Date.now();
      let sending = true;
      const disturbing = disturb(() => !sending);
      const sent = await sendAll();
      sending = false;
      const { redisCrashes } = await disturbing;
      proxy.become('well');
      const capturedMs = Date.now() - begun;
      await eventually(async () => {
        await wait(1_000);
        return (await recordedCount()) >= VCONS;
      }, 240_000);
      // What is still under way, if anything is, would be a second event.
      await wait(3_000);
      const events = await recorded();

      const bySubject = new Map(events.map((event) => [event.event_attributes['subject'], event]));
      const kills = plugins.reduce((sum, plugin) => sum + plugin.kills, 0);
      const seconds = { captured: capturedMs / 1000, delivered: (Date.now() - begun) / 1000 };
      const numbers = {
        vcons: sent.length,
        events: events.length,
        kills,
        redisCrashes,
        spoiled: proxy.spoiled,
        seconds,
      };
      process.stdout.write(`a thousand vCons: ${JSON.stringify(numbers)}\n`);

      expect(events).toHaveLength(VCONS);
      expect(bySubject.size).toBe(VCONS);
      expect(new Set(events.map((event) => event.asset_identity)).size).toBe(VCONS);
      for (const { subject, payload } of sent)
        expect(bySubject.get(subject)!.event_attributes['payload']).toBe(payload);
      for (let lane = 0; lane < LANES; lane += 1) {
        const order = sent.filter((each) => each.lane === lane).map(({ subject }) => bySubject.get(subject)!);
        const sequences = order.map((event) => event.event_attributes['capture_sequence']);
        expect(sequences).toEqual([...sequences].sort());
      }
      expect(kills).toBeGreaterThan(0);
      expect(redisCrashes).toBeGreaterThan(0);
    },
    LONG,
  );
});
