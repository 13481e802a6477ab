import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCapture } from '../../plugins/capture/capture-operation.js';
import { notePassage } from '../../plugins/capture/note-passage.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import type { EventAttributes } from '../../plugins/operation/operation-event.js';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import { readStreamEntry } from '../../plugins/stream/stream-record.js';
import { conserverPredecessors } from '../../plugins/tap/conserver-predecessors.js';
import { processingList, startEgressTap } from '../../plugins/tap/egress-tap.js';
import { reportGaps } from '../../plugins/tap/report-gaps.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { eventually, type OpenBackend, openBackend, silent, startRig } from './plugin-rig.js';
import { SCRIPTED_TENANCY } from './scripted-archivist.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

describe.skipIf(!redisUrl)('the completeness tap', () => {
  let open: OpenBackend;
  let memory: Memory;
  let redis: Redis;
  let list: string;
  let closing: { close(): Promise<void> }[];
  /** What the service has about vCons, by uuid. */
  let known: Record<string, EventAttributes[]>;
  const eventsAbout = async (uuid: string) => known[uuid] ?? [];
  /** How far the plugin's clock is off; undefined while nothing contradicts it. */
  let offMs: number | undefined;
  const clock = { now: () => Date.now() + (offMs ?? 0) };
  const observe = createCaptureSequence(clock, () => offMs !== undefined);

  beforeAll(async () => {
    open = await openBackend('Redis');
    memory = openMemory({ dataDir: open.folder, redisUrl: ownRedisUrl('plugin') }, silent);
    redis = new Redis(ownRedisUrl('plugin'));
  });
  beforeEach(async () => {
    list = `tap-${randomUUID()}`;
    closing = [];
    known = {};
    offMs = undefined;
    for await (const uuid of memory.names('tap')) await memory.forget('tap', uuid);
    for await (const day of memory.names('gaps')) await memory.forget('gaps', day);
  });
  afterEach(async () => {
    await Promise.all(closing.map((each) => each.close()));
    await redis.del(list, processingList(list));
    await open.empty();
  });
  afterAll(async () => {
    redis.disconnect();
    await memory.close();
    await open.close();
  });

  const tap = (own: Memory = memory, changed: Partial<Parameters<typeof startEgressTap>[0]> = {}) => {
    const parts = { url: ownRedisUrl('plugin'), list, memory: own, observe, logger: silent };
    closing.push(startEgressTap({ ...parts, predecessorsOf: async () => [], ...changed }));
  };
  const left = async (uuid: string) => (await memory.read('tap', uuid))['left'];
  const report = (atMs = Date.now() + 2 * HOUR_MS) =>
    reportGaps({ backend: open.backend, memory, list, eventsAbout }, { atMs, sequence: '1' });
  const records = async () =>
    (await open.backend.queue(OPERATION_QUEUE).getJobs(['waiting'])).map((job) => job.data as OperationJob);

  it('notes what leaves, also what a crash left half-noted, and never drops an entry that it could not note', async () => {
    const [before, half, after] = [randomUUID(), randomUUID(), randomUUID()];
    await redis.rpush(list, before);
    await redis.rpush(processingList(list), half);
    let failing = true;
    const flaky: Memory = {
      ...memory,
      write: async (...args) => {
        if (failing) throw new Error('the memory does not answer');
        await memory.write(...args);
      },
    };
    tap(flaky);
    await eventually(async () => (await redis.lrange(processingList(list), 0, -1)).includes(half));
    expect(await left(half)).toBeUndefined();
    failing = false;
    await redis.rpush(list, after, 'no uuid');
    for (const uuid of [before, half, after]) await eventually(async () => (await left(uuid)) !== undefined);
    await eventually(async () => (await redis.exists(list, processingList(list))) === 0);
  });

  it('notes what another plugin has moved and died before it noted it, without a start or an error of its own', async () => {
    const [own, others] = [randomUUID(), randomUUID()];
    tap(memory, { lookEveryMs: 50 });
    await redis.rpush(list, own);
    await eventually(async () => (await left(own)) !== undefined);
    await redis.rpush(processingList(list), others);
    await eventually(async () => (await left(others)) !== undefined);
    await eventually(async () => (await redis.exists(processingList(list))) === 0);
  });

  it('notes what waits in a Redis that is full, which refuses to move it, and each entry once', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await redis.rpush(list, first, second, first);
    const { sendCommand } = Redis.prototype;
    vi.spyOn(Redis.prototype, 'sendCommand').mockImplementation(function (this: Redis, command, ...rest) {
      if (command.name === 'blmove') return Promise.reject(new Error('OOM command not allowed'));
      return sendCommand.call(this, command, ...rest);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const noted: string[] = [];
    tap({
      ...memory,
      write: (collection, name, fields) => {
        if ('left' in fields) noted.push(name);
        return memory.write(collection, name, fields);
      },
    });
    await eventually(async () => (await redis.llen(list)) === 0);
    expect(noted).toEqual([first, second, first]);
  });

  it('notes what it has moved, also when the memory has had no room for the note', async () => {
    const uuid = randomUUID();
    await redis.rpush(list, uuid);
    let refusals = 1;
    tap({
      ...memory,
      write: async (...args) => {
        if (refusals-- > 0) throw new Error('OOM command not allowed');
        await memory.write(...args);
      },
    });
    await eventually(async () => (await left(uuid)) !== undefined, 10_000);
    await eventually(async () => (await redis.exists(list, processingList(list))) === 0);
  });

  it('compares by the next report what a vCon did while this one asked for its events', async () => {
    const uuid = randomUUID();
    await memory.write('tap', uuid, { left: String(Date.now()) });
    const asked: string[] = [];
    const halted = async (about: string) => {
      asked.push(about);
      await memory.write('tap', uuid, { captured: String(Date.now() + 3 * HOUR_MS) });
      return [{ capture_method: 'link' }];
    };
    const at = { atMs: Date.now() + 2 * HOUR_MS, sequence: '1' };
    await reportGaps({ backend: open.backend, memory, list, eventsAbout: halted }, at);
    expect([asked, (await report(at.atMs + DAY_MS)).vcons]).toEqual([[uuid], 1]);
    const [record] = await records();
    expect(JSON.parse(record!.attributes['gap_document']!)).toMatchObject({ event_without_leaving: [uuid] });
  });

  it('compares by the next report what a vCon of a gap record did before that record was sent', async () => {
    const [again, once] = [randomUUID(), randomUUID()];
    for (const uuid of [again, once]) await memory.write('tap', uuid, { left: String(Date.now()) });
    const full: Memory = {
      ...memory,
      write: (collection, name, fields) =>
        'recorded' in fields ? Promise.reject(new Error('no room')) : memory.write(collection, name, fields),
    };
    const [at, parts] = [Date.now() + 2 * HOUR_MS, { backend: open.backend, list, eventsAbout }];
    await expect(reportGaps({ ...parts, memory: full }, { atMs: at, sequence: '1' })).rejects.toThrow('no room');
    await memory.write('tap', again, { captured: String(at + HOUR_MS) });
    expect((await report(at)).vcons).toBe(2);
    expect(await memory.read('tap', once)).toEqual({});
    expect((await report(at + DAY_MS)).vcons).toBe(1);
  });

  it('reports what left without an event and what never left, in a record whose digest is signed, and then forgets', async () => {
    const now = String(Date.now());
    const [silently, halted, well, twice] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    await memory.write('tap', silently, { left: now });
    await memory.write('tap', halted, { captured: now });
    await memory.write('tap', well, { captured: now, left: now });
    await memory.write('tap', twice, { left: String(Date.now() - HOUR_MS), captured: now });
    expect((await report()).vcons).toBe(3);
    expect((await report()).vcons).toBe(0);
    const [record, ...more] = await records();
    expect(more).toEqual([]);
    const document = record!.attributes['gap_document']!;
    expect(record!.payload).toBe(createHash('sha256').update(document).digest('hex'));
    expect(JSON.parse(document)).toMatchObject({
      left_without_event: [silently],
      event_without_leaving: [halted, twice].sort(),
    });
    expect(await memory.read('tap', well)).toEqual({});
  });

  it('tells vCons that only a stock link, or somebody else’s, recorded from those that nobody did', async () => {
    const [nobody, stock, other, elsewhere] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    for (const uuid of [nobody, stock, other, elsewhere]) await memory.write('tap', uuid, { left: String(Date.now()) });
    known[stock] = [{ conserver_link: 'datatrails', conserver_link_version: '0.3.0' }];
    known[other] = [{ conserver_link: 'their_own' }];
    known[elsewhere] = [{ conserver_link: 'datatrails' }, { capture_method: 'link' }];
    expect((await report()).vcons).toBe(3);
    expect(JSON.parse((await records())[0]!.attributes['gap_document']!)).toMatchObject({
      left_without_event: [nobody],
      left_with_stock_event: [stock],
      left_with_other_event: [other],
      event_without_leaving: [],
    });
    for (const uuid of [nobody, stock, other, elsewhere]) expect(await memory.read('tap', uuid)).toEqual({});
  });

  it('is compared by the running plugin with the events of each of its tenancies, which counts what it reports', async () => {
    const uuid = randomUUID();
    await memory.write('tap', uuid, { left: String(Date.now() - 3 * HOUR_MS) });
    const tenanciesFile = join(open.folder, 'tenancies.json');
    await writeFile(tenanciesFile, JSON.stringify({ north: { client_id: 'north-id', client_secret: 'north-secret' } }));
    const settings = { conserverRedisUrl: ownRedisUrl('plugin'), tapList: list, tenanciesFile };
    const rig = await startRig(open.backend, { settings });
    closing.push(rig);
    const events = [{ tenant_identity: SCRIPTED_TENANCY, event_attributes: { conserver_link: 'datatrails' } }];
    rig.archivist.always('event look-up', { status: 200, body: { events } });
    // What the schedule makes at half past one.
    await open.backend.queue('conserver-gaps').add('daily', {}, { removeOnComplete: true });
    await eventually(() => rig.archivist.seenAt('event').length > 0);
    const { event_attributes: sent } = JSON.parse(rig.archivist.seenAt('event')[0]!.body);
    expect(JSON.parse(sent.gap_document)).toMatchObject({ left_without_event: [], left_with_stock_event: [uuid] });
    await eventually(async () => (await rig.registry.metrics()).includes('conserver_link_gaps_total 1'));
    const asked = rig.archivist.seenAt('event look-up').map(({ path }) => new URLSearchParams(path.split('?')[1]));
    expect(asked.map((query) => query.get('event_attributes.subject'))).toEqual([`vcon://${uuid}`, `vcon://${uuid}`]);
    expect(new Set(rig.archivist.seenAt('event look-up').map(({ headers }) => headers.authorization)).size).toBe(2);
  });

  it('reports nothing while the service does not say what it has, and forgets nothing', async () => {
    const uuid = randomUUID();
    await memory.write('tap', uuid, { left: String(Date.now()) });
    const away = () => Promise.reject(new Error('the service is away'));
    const at = { atMs: Date.now() + 2 * HOUR_MS, sequence: '1' };
    await expect(reportGaps({ backend: open.backend, memory, list, eventsAbout: away }, at)).rejects.toThrow('away');
    expect((await report()).vcons).toBe(1);
  });

  it('reports nothing by a clock that is wrong, and forgets nothing', async () => {
    const uuid = randomUUID();
    await memory.write('tap', uuid, { captured: String(Date.now()) });
    const years = { atMs: Date.now() + 10_000 * HOUR_MS, sequence: '1', clockWrong: true } as const;
    await expect(reportGaps({ backend: open.backend, memory, list, eventsAbout }, years)).rejects.toThrow('clock');
    expect((await report()).vcons).toBe(1);
  });

  it.each([
    ['ahead', YEAR_MS],
    ['behind', -YEAR_MS],
  ])(
    'takes no order from a clock that was wrong, %s: what left and was captured is no gap, what did only one is one a day later',
    async (_, wrongBy) => {
      const [leaving, captured, halted, silently] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
      await notePassage(memory, leaving, 'captured', observe());
      await notePassage(memory, captured, 'left', observe());
      tap();
      offMs = wrongBy;
      await redis.rpush(list, leaving, silently);
      await notePassage(memory, captured, 'captured', observe());
      await notePassage(memory, halted, 'captured', observe());
      for (const uuid of [leaving, silently]) await eventually(async () => (await left(uuid)) !== undefined);
      offMs = undefined;
      expect((await report(Date.now() + DAY_MS)).vcons).toBe(0);
      expect((await report(Date.now() + 2 * DAY_MS)).vcons).toBe(2);
      expect(JSON.parse((await records())[0]!.attributes['gap_document']!)).toMatchObject({
        left_without_event: [silently],
        event_without_leaving: [halted],
      });
      for (const uuid of [leaving, captured]) expect(await memory.read('tap', uuid)).toEqual({});
    },
  );

  it('calls a vCon no gap whose redaction left in its place, captured or not', async () => {
    const [redacted, successor] = [randomUUID(), randomUUID()];
    await memory.write('tap', redacted, { captured: String(Date.now()) });
    tap(memory, { predecessorsOf: async (uuid) => (uuid === successor ? [redacted] : []) });
    await redis.rpush(list, successor);
    await eventually(async () => (await left(successor)) !== undefined);
    await report();
    expect(JSON.parse((await records())[0]!.attributes['gap_document']!)).toMatchObject({
      left_without_event: [successor],
      event_without_leaving: [],
    });
  });

  it('calls a document no gap that names no uuid and that a link or tracer captured where it left', async () => {
    const [encrypted, unseen] = [randomUUID(), randomUUID()];
    const withdrawn = new Set<string>();
    const counts = { counted: () => undefined, doubled: () => undefined };
    const { capture } = createCapture({
      backend: open.backend,
      memory,
      passages: memory,
      withdrawn,
      logger: silent,
      ...counts,
    });
    const entry = { version: '1', method: 'link', operation: 'vcon_created', form: 'encrypted' };
    const fields = {
      ...entry,
      key: encrypted.toUpperCase(),
      hash: createHash('sha256').update(encrypted).digest('hex'),
    };
    await capture(readStreamEntry(`${Date.now()}-0`, Object.entries(fields).flat()));
    tap();
    await redis.rpush(list, encrypted, unseen);
    await eventually(async () => (await left(unseen)) !== undefined);
    await report();
    const gaps = (await records()).flatMap(({ attributes }) => attributes['gap_document'] ?? []);
    expect(JSON.parse(gaps[0]!)).toMatchObject({
      left_without_event: [unseen],
      event_without_leaving: [],
    });
  });

  it('reads lineage from a vCon that is stored as a text, under its name as the conserver spells it', async () => {
    const [own, first, second, third] = [randomUUID().toUpperCase(), randomUUID(), randomUUID(), randomUUID()];
    const members = { redacted: { uuid: first }, amended: { uuid: second }, appended: { uuid: third.toUpperCase() } };
    const document = { uuid: own, dialog: [{ body: '"amended": {"uuid": "none"}' }], ...members, analysis: [] };
    await redis.set(`vcon:${own}`, JSON.stringify(document));
    onTestFinished(() => void redis.del(`vcon:${own}`));
    closing.push(startEgressTap({ url: ownRedisUrl('plugin'), list, memory, observe, logger: silent }));
    await redis.rpush(list, own);
    await eventually(async () => (await left(own.toLowerCase())) !== undefined);
    const continued = [first, second, third].map(async (uuid) => (await memory.read('tap', uuid))['continued']);
    for (const each of await Promise.all(continued)) expect(each).toBeDefined();
    for (const odd of ['', 'no json', '[]', '{"redacted": null, "amended": "text", "appended": [{"uuid": "x"}]}']) {
      await redis.set(`vcon:${own}`, odd);
      expect(await conserverPredecessors(redis, own)).toEqual([]);
    }
    expect(await conserverPredecessors(redis, randomUUID())).toEqual([]);
  });

  it('reads lineage from the replies of RedisJSON, and takes only uuids for predecessors', async () => {
    const [own, first, second] = [randomUUID(), randomUUID(), randomUUID()];
    const asked: unknown[][] = [];
    const replying = (reply: unknown) => ({
      call: async (...command: unknown[]) => {
        asked.push(command);
        return reply === null ? null : JSON.stringify(reply);
      },
      getBuffer: () => Promise.reject(new Error('WRONGTYPE Operation against a key holding the wrong kind of value')),
    });
    const reply = {
      '$.redacted.uuid': [first.toUpperCase()],
      '$.amended.uuid': [second, own, 'none', 7],
      '$.appended.uuid': [],
    };
    expect(await conserverPredecessors(replying(reply) as never, own)).toEqual([first, second]);
    expect(await conserverPredecessors(replying(null) as never, own)).toEqual([]);
    expect(asked[0]).toEqual(['JSON.GET', `vcon:${own}`, '$.redacted.uuid', '$.amended.uuid', '$.appended.uuid']);
  });

  it('waits an hour before it calls something missing, and records nothing when nothing is', async () => {
    await memory.write('tap', randomUUID(), { left: String(Date.now()) });
    expect((await report(Date.now())).vcons).toBe(0);
    expect(await records()).toEqual([]);
  });

  it('sends the same record again after a crash, and not a second one', async () => {
    const uuid = randomUUID();
    await memory.write('tap', uuid, { left: String(Date.now()) });
    const dying: Memory = { ...memory, forget: () => Promise.reject(new Error('killed')) };
    const at = { atMs: Date.now() + 2 * HOUR_MS, sequence: '1' };
    const parts = { backend: open.backend, memory: dying, list, eventsAbout };
    await expect(reportGaps(parts, at)).rejects.toThrow('killed');
    await memory.write('tap', randomUUID(), { left: String(Date.now()) });
    expect((await report()).vcons).toBe(1);
    expect(await records()).toHaveLength(1);
  });

  it('puts a day of many gaps into several records', async () => {
    const uuids = Array.from({ length: 1_500 }, () => randomUUID());
    await Promise.all(uuids.map((uuid) => memory.write('tap', uuid, { left: String(Date.now()) })));
    expect((await report()).vcons).toBe(1_500);
    const documents = (await records()).map(({ attributes }) => attributes['gap_document']!);
    expect(documents).toHaveLength(2);
    for (const document of documents) expect(document.length).toBeLessThan(60_000);
  });
});
