import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import type { PluginSettings } from '../../plugins/settings/plugin-settings.js';
import { reportGaps } from '../../plugins/tap/report-gaps.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { hasRedisPy, pythonPath, redisUrl } from '../support/prerequisites.js';
import { type Chain, type ConserverDriver, conserverDriver, ownChain } from './conserver-driver.js';
import { eventually, freshVcon, type OpenBackend, openBackend, type Rig, silent, startRig } from './plugin-rig.js';
import { driveWheel, type Step, startWheel } from './python-wheel.js';
import { SCRIPTED_TENANCY } from './scripted-archivist.js';

const SECRET = 'a-secret-of-the-test';
const HOUR_MS = 3_600_000;
const VCONS = new URL('../../../shared/vectors/vcons/', import.meta.url);
const OWN = new URL('../../fixtures/vcon/', import.meta.url);

describe.skipIf(!redisUrl)('in a conserver’s chain', () => {
  let open: OpenBackend;
  let rig: Rig;
  let conserver: ConserverDriver;
  let names: { stream: string; tapList: string };

  beforeAll(async () => {
    open = await openBackend('Redis');
  });
  beforeEach(() => {
    conserver = conserverDriver(ownRedisUrl('plugin'));
    names = { stream: `stream-${randomUUID()}`, tapList: `tap-${randomUUID()}` };
  });
  afterEach(async () => {
    await rig.close();
    await conserver.redis.del(names.stream, names.tapList);
    await conserver.close();
    await open.empty();
  });
  afterAll(() => open.close());

  async function start(settings: Partial<PluginSettings> = {}): Promise<void> {
    rig = await startRig(open.backend, {
      settings: { secret: SECRET, conserverRedisUrl: ownRedisUrl('plugin'), endings: true, ...names, ...settings },
      pace: { firstMs: 60_000, mostMs: 60_000 },
    });
    rig.archivist.always('event', { status: 503 });
  }
  const headers = { authorization: `Bearer ${SECRET}`, 'x-vcon-chain': 'main' };
  const evidence = (operation: string) => conserver.webhook(`${rig.url}/links/l/operations/${operation}`, headers);
  const captured = async (): Promise<OperationJob[]> => {
    const jobs = await open.backend.queue(OPERATION_QUEUE).getJobs(['waiting', 'active', 'delayed', 'failed']);
    // One that changes its state meanwhile is listed twice.
    const data = [...new Map(jobs.map((job) => [job.id, job.data as OperationJob])).values()];
    return data.sort((a, b) => (a.attributes['capture_sequence']! < b.attributes['capture_sequence']! ? -1 : 1));
  };
  const operationNames = async () => (await captured()).map(({ attributes }) => attributes['vcon_operation']);

  it('captures each state with the conserver’s own hash, in order, while the service is away', async () => {
    await start();
    const states: string[] = [];
    const look = async (uuid: string) => {
      states.push(
        createHash('sha256')
          .update((await conserver.redis.get(`vcon:${uuid}`))!)
          .digest('hex'),
      );
      return true;
    };
    const transcribe = conserver.edit('{"analysis": [{"type": "transcript", "body": {"text": "said"}}]}');
    const chain = ownChain(
      [look, evidence('vcon_created'), transcribe, look, evidence('transcribed')],
      [names.tapList],
    );
    const uuid = await conserver.submit(chain, freshVcon());
    expect(await conserver.step(chain)).toBe('completed');
    const events = await captured();
    expect(events.map(({ attributes }) => attributes['vcon_operation'])).toEqual(['vcon_created', 'vcon_enhanced']);
    expect(events.map(({ payload }) => payload)).toEqual(states);
    for (const { subject, attributes } of events) {
      expect(subject).toBe(`vcon://${uuid}`);
      expect(attributes).toMatchObject({
        conserver_chain: 'main',
        conserver_link_name: 'l',
        capture_method: 'receiver',
      });
    }
  });

  it('makes no second event of a chain that is replayed from the dead letters', async () => {
    await start();
    let failing = true;
    const flaky = async () => {
      if (failing) throw new Error('a later link fails');
      return true;
    };
    const chain = ownChain([evidence('vcon_created'), flaky, evidence('vcon_sent')]);
    await conserver.submit(chain, freshVcon());
    expect(await conserver.step(chain)).toBe('dead-lettered');
    failing = false;
    expect(await conserver.reprocess(chain)).toBe(1);
    expect(await conserver.step(chain)).toBe('completed');
    expect(await operationNames()).toEqual(['vcon_created', 'vcon_sent']);
  });

  it('has the conserver’s dead-letter list keep what it refuses, and captures it on the replay', async () => {
    await start();
    const target = `${rig.url}/operations/vcon_created`;
    const wrong = ownChain([conserver.webhook(target, { authorization: 'Bearer wrong' })]);
    const uuid = await conserver.submit(wrong, freshVcon());
    expect(await conserver.step(wrong)).toBe('dead-lettered');
    expect(await conserver.deadLetters(wrong)).toEqual([uuid]);
    expect(await captured()).toEqual([]);
    const right: Chain = { ...wrong, links: [conserver.webhook(target, headers)] };
    await conserver.reprocess(right);
    expect(await conserver.step(right)).toBe('completed');
    expect(await operationNames()).toEqual(['vcon_created']);
  });

  it.each(['closed', 'open'] as const)(
    'fails %s while the queue keeps nothing: refused, or kept on this disk',
    async (mode) => {
      let away = true;
      const flaky = {
        ...open.backend,
        confirmDurable: () => (away ? Promise.reject(new Error('no disk')) : open.backend.confirmDurable()),
      };
      rig = await startRig(flaky, {
        settings: { secret: SECRET, failOpen: mode === 'open' },
        pace: { firstMs: 60_000, mostMs: 60_000 },
      });
      rig.archivist.always('event', { status: 503 });
      const chain = ownChain([evidence('vcon_created')]);
      await conserver.submit(chain, freshVcon());
      expect(await conserver.step(chain)).toBe(mode === 'open' ? 'completed' : 'dead-lettered');
      if (mode === 'closed') {
        expect(await captured()).toEqual([]);
        expect(rig.archivist.seenAt('event')).toEqual([]);
      }
      away = false;
      await conserver.reprocess(chain);
      await conserver.step(chain);
      await eventually(async () => (await operationNames()).length === 1);
    },
  );

  it('captures links whose names are dates, have spaces or are numbers, and lets out no number', async () => {
    await start();
    const named = (label: string) =>
      conserver.webhook(`${rig.url}/links/${encodeURIComponent(label)}/operations/vcon_enhanced`, headers);
    const labels = ['2026-11-20', 'my link', 'Ü/x', '+15550100123', 'a'.repeat(200)];
    const chain = ownChain(labels.map(named));
    await conserver.submit(chain, freshVcon());
    expect(await conserver.step(chain)).toBe('completed');
    const recorded = (await captured()).map(({ attributes }) => attributes['conserver_link_name']);
    expect(recorded).toEqual([
      ...['2026-11-20', 'my%20link', '%C3%9C%2Fx', expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/)],
      expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    ]);
  });

  it('sets aside at once what the stream has of a tenancy that nobody delivers for', async () => {
    await start();
    const entry = { version: '1', method: 'link', operation: 'vcon_sent', hash: 'ab'.repeat(32) };
    const uuids = [randomUUID(), randomUUID()];
    for (const [place, uuid] of uuids.entries())
      await conserver.redis.xadd(
        names.stream,
        '*',
        ...Object.entries({
          ...entry,
          uuid,
          ...(place === 0 ? { tenancy: 'south' } : { link: 'tag +1 555 010 0123' }),
        }).flat(),
      );
    await eventually(async () => (await captured()).length === 1);
    expect((await captured())[0]).toMatchObject({ subject: `vcon://${uuids[1]}` });
    expect(JSON.stringify(await captured())).not.toContain('0123"');
    const [[, fields]] = (await conserver.redis.xrange(`${names.stream}:refused`, '-', '+')) as [[string, string[]]];
    expect(fields).toContain('the tenancy is not in ARCHIVIST_TENANCIES');
    await conserver.redis.del(`${names.stream}:refused`);
  });

  it('records the end of a vCon that it has forgotten with the hash that the service has, or sets it aside', async () => {
    await start();
    const end = async (uuid: string): Promise<void> => {
      const entry = { version: '1', method: 'storages', operation: 'vcon_deleted', key: uuid, storages: '{}' };
      await conserver.redis.xadd(names.stream, '*', ...Object.entries(entry).flat());
      await eventually(async () => (await conserver.redis.xlen(names.stream)) === 0);
    };
    const [unseen, away, known] = [randomUUID(), randomUUID(), randomUUID()];
    await end(unseen);
    expect(await rig.registry.metrics()).toContain('conserver_link_unknown_endings_total 1');
    rig.archivist.always('event look-up', { status: 503 });
    await end(away);
    const payload = 'ab'.repeat(32);
    const event_attributes = { capture_method: 'link', capture_sequence: '9', payload };
    const events = [{ tenant_identity: SCRIPTED_TENANCY, event_attributes }];
    rig.archivist.always('event look-up', { status: 200, body: { events } });
    await end(known);
    expect((await captured()).map((job) => [job.subject, job.payload])).toEqual([[`vcon://${known}`, payload]]);
    const about = rig.archivist.seenAt('event look-up').at(-1)!.path;
    expect(new URLSearchParams(about.split('?')[1]).get('event_attributes.subject')).toBe(`vcon://${known}`);
    const [[, fields]] = (await conserver.redis.xrange(`${names.stream}:refused`, '-', '+')) as [[string, string[]]];
    expect(fields).toEqual(expect.arrayContaining([away, expect.stringMatching(/the service does not answer$/)]));
    await conserver.redis.del(`${names.stream}:refused`);
  });

  it('delivers what an earlier start left on this disk, also when it fails closed now', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'plugin-keeps-'));
    const keeps = { dataDir, redisUrl: ownRedisUrl('plugin') };
    const never = { ...open.backend, confirmDurable: () => Promise.reject(new Error('no disk')) };
    const settings = { secret: SECRET };
    const first = await startRig(never, { keeps, settings: { ...settings, failOpen: true } });
    const target = `${first.url}/operations/vcon_created`;
    const chain = ownChain([conserver.webhook(target, headers)]);
    const uuid = await conserver.submit(chain, freshVcon());
    expect(await conserver.step(chain)).toBe('completed');
    expect(await (await fetch(`${first.url}/metrics`)).text()).toMatch(/^conserver_link_spool_depth 1$/m);
    await first.close();
    rig = await startRig(open.backend, { keeps, settings });
    await eventually(() => rig.archivist.seenAt('event').length === 1);
    expect(rig.archivist.seenAt('event')[0]!.body).toContain(uuid);
    expect(await (await fetch(`${rig.url}/metrics`)).text()).toMatch(/^conserver_link_spool_depth 0$/m);
    await rm(dataDir, { recursive: true });
  });

  it('tells by the tap what was halted, killed within its chain, or left without an event', async () => {
    await start();
    const evident = ownChain([evidence('vcon_created')], [names.tapList]);
    const silently = ownChain([], [names.tapList]);
    const halting = ownChain([evidence('vcon_created'), async () => false], [names.tapList]);
    const redaction = randomUUID();
    const redact = async (uuid: string) => {
      await conserver.redis.set(`vcon:${redaction}`, freshVcon({ uuid: redaction, redacted: { uuid } }), 'EX', 3600);
      return redaction;
    };
    const redacting = ownChain([evidence('vcon_created'), redact, evidence('redacted')], [names.tapList]);
    const [redacted, well, bare, halted, killed] = [
      await conserver.submit(redacting, freshVcon()),
      await conserver.submit(evident, freshVcon()),
      await conserver.submit(silently, freshVcon()),
      await conserver.submit(halting, freshVcon()),
      await conserver.submit(halting, freshVcon()),
    ];
    expect([await conserver.step(evident), await conserver.step(silently)]).toEqual(['completed', 'completed']);
    expect(await conserver.step(redacting)).toBe('completed');
    expect(await conserver.step(halting)).toBe('halted');
    expect(await conserver.step(halting, 1)).toBe('nothing to do');
    expect(await conserver.redis.exists(halting.ingress, `DLQ:${halting.ingress}`)).toBe(0);
    const memory = openMemory({ redisUrl: ownRedisUrl('plugin'), dataDir: '' }, silent);
    for (const uuid of [well!, bare!, redaction])
      await eventually(async () => (await memory.read('tap', uuid))['left'] !== undefined);
    const at = { atMs: Date.now() + 2 * HOUR_MS, sequence: '1' };
    for await (const day of memory.names('gaps')) await memory.forget('gaps', day);
    const eventsAbout = async () => [];
    await reportGaps({ backend: open.backend, memory, list: names.tapList, eventsAbout }, at);
    const gap = (await captured()).find(({ attributes }) => attributes['vcon_operation'] === 'vcon_capture_gap')!;
    const document = JSON.parse(gap.attributes['gap_document']!);
    expect(document.left_without_event).toContain(bare);
    expect(document.event_without_leaving).toEqual(expect.arrayContaining([halted, killed]));
    for (const uuid of [well, redacted, redaction]) expect(JSON.stringify(document)).not.toContain(uuid);
    for await (const uuid of memory.names('tap')) await memory.forget('tap', uuid);
    await memory.close();
  });

  it.skipIf(!pythonPath || !hasRedisPy)(
    'records the end of a vCon that Redis and every storage have lost, with the hash that it saw last',
    async () => {
      await conserver.redis.config('SET', 'notify-keyspace-events', 'Exgd');
      await start();
      const folder = await mkdtemp(join(tmpdir(), 'storage-'));
      const storages = { mine: { module: 'storage.file', options: { path: folder } } };
      const options = { stream: names.stream };
      const imports = { endings: { module: 'vcon_archivist_link.watch', options } };
      const chain = ownChain([evidence('vcon_created')]);
      const config = { chains: { main: {} }, storages, imports };
      const submit = async (stored: boolean): Promise<string> => {
        const uuid = await conserver.submit(chain, freshVcon());
        await conserver.step(chain);
        if (stored) driveWheel([{ store: 'mine', uuid }], ownRedisUrl('plugin'), config);
        return uuid;
      };
      const [expired, deleted] = [await submit(false), await submit(false)];
      const [cached, left] = [await submit(true), await submit(true)];
      for (const uuid of [expired, cached]) await conserver.redis.pexpire(`vcon:${uuid}`, 20);
      for (const uuid of [deleted, left]) await conserver.redis.del(`vcon:${uuid}`);
      const look = `${names.stream}:look`;
      await eventually(async () => (await conserver.redis.zcard(look)) === 4);
      const worker = startWheel([{ work: 600 }], ownRedisUrl('plugin'), config);
      const hurried = async () => {
        // The time until each is due passes at once.
        for (const member of await conserver.redis.zrange(look, '0', '-1'))
          await conserver.redis.zadd(look, 'XX', 'LT', 1, member);
        return (await captured()).length;
      };
      await eventually(async () => (await hurried()) === 7 && (await conserver.redis.zcard(look)) === 0);
      worker.kill();
      await worker.done;
      const events = await captured();
      const of = (uuid: string) => {
        const own = events.filter(({ subject }) => subject === `vcon://${uuid}`);
        expect(new Set(own.map(({ payload }) => payload)).size).toBe(1);
        return own.map(({ attributes }) => attributes['vcon_operation']);
      };
      expect(of(expired)).toEqual(['vcon_created', 'vcon_expired']);
      expect(of(deleted)).toEqual(['vcon_created', 'vcon_deleted']);
      expect(of(cached)).toEqual(['vcon_created']);
      expect(of(left)).toEqual(['vcon_created', 'vcon_deletion_incomplete']);
      const incomplete = events.find(({ attributes }) => attributes['storages_with_vcon'] !== undefined);
      expect(incomplete!.attributes).toMatchObject({ storages_with_vcon: 'mine', capture_method: 'storages' });
      await conserver.redis.del(look, `${look}:tries`, `${names.stream}:looker`);
      await rm(folder, { recursive: true });
    },
  );

  it.skipIf(!pythonPath || !hasRedisPy)('has the same hash from the wheel’s link as from the receiver', async () => {
    await start();
    const chain = ownChain([evidence('vcon_created')]);
    const document = freshVcon({ float: 1e-7, text: 'é\u007f😀', attachments: [{ purpose: 'tags', body: 'a:b' }] });
    const uuid = await conserver.submit(chain, document);
    await conserver.step(chain);
    const steps: Step[] = [{ link: 'evidence', uuid, options: { stream: names.stream, vcon_operation: 'vcon_sent' } }];
    driveWheel(steps, ownRedisUrl('plugin'));
    await eventually(async () => (await captured()).length === 2);
    const [received, linked] = await captured();
    expect(linked!.payload).toBe(received!.payload);
    expect(linked!.attributes['capture_method']).toBe('link');
  });

  it('never lets a name, a number or an address of a real vCon out', async () => {
    await start();
    const folders = [OWN, ...(existsSync(VCONS) ? [VCONS] : [])];
    const files = folders.flatMap((folder) => readdirSync(folder).map((file) => new URL(file, folder)));
    const documents = files
      .filter(({ pathname }) => pathname.endsWith('.json') && !pathname.endsWith('hashes.json'))
      .map((file) => readFileSync(file, 'utf8'));
    const personal = new Set<string>();
    const collect = (value: unknown, name = ''): void => {
      if (typeof value === 'object' && value !== null)
        for (const [member, each] of Object.entries(value)) collect(each, Array.isArray(value) ? name : member);
      else if (
        typeof value === 'string' &&
        value.length > 3 &&
        /^(tel|mailto|name|body|subject|sip|filename|url)$/.test(name)
      )
        personal.add(value);
    };
    for (const document of documents) {
      collect(JSON.parse(document));
      const answer = await rig.post('/operations/vcon_created?chain=main&link=l', document, headers);
      expect(answer.status).toBe(202);
    }
    expect(personal.size).toBeGreaterThan(20);
    const text = JSON.stringify(await captured());
    for (const value of personal) expect(text).not.toContain(JSON.stringify(value).slice(1, -1));
    expect(text).not.toMatch(/tel:|mailto:|@|\+\d{7}/);
  });

  it('is not stopped by callers who say nothing: the next conserver is answered', async () => {
    await start();
    const idle = Array.from({ length: 50 }, () => connect(Number(new URL(rig.url).port), '127.0.0.1'));
    for (const socket of idle) socket.on('error', () => undefined);
    const chain = ownChain([evidence('vcon_created')]);
    await conserver.submit(chain, freshVcon());
    expect(await conserver.step(chain)).toBe('completed');
    for (const socket of idle) socket.destroy();
  });
});

describe('the driver’s own webhook', () => {
  const servers: Server[] = [];
  afterAll(() => servers.forEach((server) => void server.close()));

  it.skipIf(!redisUrl)(
    'takes any status for success, and a broken connection for a failure, as a conserver does',
    async () => {
      const conserver = conserverDriver(ownRedisUrl('plugin'));
      const answering = createServer((_request, response) => response.writeHead(500).end()).listen(0, '127.0.0.1');
      const breaking = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
      servers.push(answering);
      await Promise.all([answering, breaking].map((server) => server.listening || once(server, 'listening')));
      const at = (server: { address(): unknown }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      for (const [server, outcome] of [
        [answering, 'completed'],
        [breaking, 'dead-lettered'],
      ] as const) {
        const chain = ownChain([conserver.webhook(at(server))]);
        await conserver.submit(chain, freshVcon());
        expect(await conserver.step(chain)).toBe(outcome);
      }
      breaking.close();
      await conserver.close();
    },
  );
});
