import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Client, startTestService, type TestService } from '../api/test-service.js';
import { eventually, freshVcon, report } from '../plugins/plugin-rig.js';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { embeddedDataDir, engines } from '../support/engines.js';
import { emptyRedis } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';

const NOWHERE = 'http://127.0.0.1:1';
/** Several starts on a busy machine. */
const LONG = 180_000;
const LISTENS = /^The conserver plugin listens on (http:\S+), for (.+)$/m;
const CREDENTIALS = { ARCHIVIST_CLIENT_ID: randomUUID(), ARCHIVIST_CLIENT_SECRET: 'a secret that is of no use' };

const plugin = (environment: Record<string, string>): BuiltProgram =>
  startBuilt('cli/vcon-archivist', { PLUGIN_PORT: '0', ...environment }, ['plugin']);

/** Where a queue is kept, and how it goes away again. */
interface QueuePlace {
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

async function redisPlace(): Promise<QueuePlace> {
  return { environment: { REDIS_URL: await emptyRedis() }, remove: async () => undefined };
}

const PLACES = [
  ...engines().map(({ name, place }) => ({ engine: name, open: place })),
  ...(redisUrl ? [{ engine: 'Redis', open: redisPlace }] : []),
];

afterAll(killBuilt);

describe.each(PLACES)('vcon-archivist plugin, queue on $engine', { timeout: LONG }, ({ engine, open }) => {
  let service: TestService;
  let place: QueuePlace;

  beforeAll(async () => {
    service = await startTestService({ PLUGIN_PORT: '0' });
    place = await open();
  });
  afterAll(async () => {
    await service.close();
    await place.remove();
  });

  it('keeps what is reported while the service is away, and delivers it once after a restart', async () => {
    const { clientId, clientSecret } = service.service.firstOwner!;
    const environment = { ...place.environment, ARCHIVIST_CLIENT_ID: clientId, ARCHIVIST_CLIENT_SECRET: clientSecret };

    const away = plugin({ ...environment, ARCHIVIST_URL: NOWHERE });
    const [, url] = await away.says(LISTENS);
    await away.says(/Stop with/);
    const lines = away.written.out.trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines.join('\n')).toContain(`Queue: ${engine}`);
    expect(lines.join('\n')).toContain(`Delivers to ${NOWHERE} as client ${clientId}`);
    expect(lines.join('\n')).not.toContain(clientSecret);
    const target = `${url}/operations/vcon_created?chain=main&link=first`;
    const subjects = [await report(target, freshVcon()), await report(target, freshVcon())].map((kept) => kept.subject);
    expect((await (await fetch(`${url}/metrics`)).text()).match(/^conserver_link_queue_depth (\d+)$/m)?.[1]).toBe('2');
    away.signal('SIGTERM');
    expect(await away.ended).toBe(0);

    const back = plugin({ ...environment, ARCHIVIST_URL: `${service.url}/archivist` });
    await back.says(LISTENS);
    for (const subject of subjects) await eventually(async () => (await eventsOf(service.owner, subject)) > 0, 60_000);
    back.signal('SIGINT');
    expect(await back.ended).toBe(0);
    for (const subject of subjects) expect(await eventsOf(service.owner, subject)).toBe(1);
  });
});

async function eventsOf(client: Client, subject: string): Promise<number> {
  const path = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(subject)}`;
  const events = (await client.get(path)).json['events'] as { event_attributes: Record<string, string> }[];
  return events.filter((event) => event.event_attributes['vcon_operation'] === 'vcon_created').length;
}

describe('vcon-archivist plugin', { timeout: LONG }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(inject('runFolder'), 'plugin-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function expectRefused(environment: Record<string, string>, says: RegExp, code: number): Promise<void> {
    const program = plugin(environment);
    expect(await program.ended).toBe(code);
    expect(program.written.err).toMatch(says);
    expect(program.written.err.trimEnd().split('\n')).toHaveLength(1);
    expect(program.written.out).toBe('');
  }

  it('ends with exit code 2 and one line when credentials are missing, before it makes anything', async () => {
    const DATA_DIR = join(folder, 'unused');
    const says = /ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET must be set/;
    await expectRefused({ DATA_DIR }, says, 2);
    await expectRefused({ DATA_DIR, ARCHIVIST_CLIENT_ID: randomUUID() }, /ARCHIVIST_CLIENT_SECRET/, 2);
    await expect(rm(DATA_DIR, { recursive: true })).rejects.toThrow('ENOENT');
  });

  it('listens beyond this machine only with a secret', async () => {
    const open = { DATA_DIR: join(folder, 'unused'), HOST: '0.0.0.0', ...CREDENTIALS };
    await expectRefused(open, /without PLUGIN_SECRET the plugin listens only on loopback/, 2);
    const DATA_DIR = await embeddedDataDir();
    const PLUGIN_SECRET = 'a-secret-of-many-letters';
    const guarded = plugin({ ...open, DATA_DIR, PLUGIN_SECRET, ARCHIVIST_URL: NOWHERE });
    const [, url, callers] = await guarded.says(LISTENS);
    expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    expect(callers).toBe('callers that send PLUGIN_SECRET');
    const reachable = `http://127.0.0.1:${new URL(url!).port}`;
    const target = `${reachable}/operations/vcon_created?chain=main&link=first`;
    await report(target, freshVcon(), { authorization: `Bearer ${PLUGIN_SECRET}` });
    await expect(fetch(target, { method: 'POST', body: freshVcon() })).rejects.toThrow();
    await guarded.says(/does not carry PLUGIN_SECRET/);
    guarded.signal('SIGTERM');
    expect(await guarded.ended).toBe(0);
    await rm(DATA_DIR, { recursive: true });
  });

  it('ends with exit code 1 and one line when its queue cannot be opened', async () => {
    const says = /^The conserver plugin does not run: the Redis of REDIS_URL cannot be reached/;
    await expectRefused({ ...CREDENTIALS, REDIS_URL: 'redis://127.0.0.1:1' }, says, 1);
  });
});
