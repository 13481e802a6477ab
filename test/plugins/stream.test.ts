import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Captured } from '../../plugins/capture/capture-operation.js';
import type { Ended } from '../../plugins/capture/ended.js';
import type { EndingFound } from '../../plugins/operation/ending.js';
import { operationJobId } from '../../plugins/operation/operation-job.js';
import { examineCaptureRedis } from '../../plugins/operator/examine-capture.js';
import { leastAhead } from '../../plugins/stream/redis-clock.js';
import { STREAM_GROUP, type StreamConsumer, startStreamConsumer } from '../../plugins/stream/stream-consumer.js';
import { hasRedisPy, pythonPath, redisUrl } from '../support/prerequisites.js';
import { eventually, silent } from './plugin-rig.js';
import { driveWheel, type Step } from './python-wheel.js';

const HASH = 'ab'.repeat(32);
const record = (changed: Record<string, string> = {}) =>
  Object.entries({
    version: '1',
    method: 'link',
    operation: 'vcon_created',
    uuid: randomUUID(),
    hash: HASH,
    ...changed,
  });

const ending = () =>
  Object.entries({ version: '1', method: 'storages', operation: 'vcon_deleted', key: randomUUID(), storages: '{}' });

describe.skipIf(!redisUrl)('the stream of the link and the tracer', () => {
  let stream: string;
  let redis: Redis;
  let ended: Ended[];
  let consumers: StreamConsumer[];
  let endings: EndingFound[];
  let refusals: number;
  let failing: boolean;
  /** How far the clock of this process is off. */
  let offMs: number;
  let isWrong: boolean;
  const clock = { now: () => Date.now() + offMs };

  beforeEach(() => {
    stream = `test-stream-${randomUUID()}`;
    redis = new Redis(redisUrl!);
    [ended, consumers, endings, refusals, failing, offMs, isWrong] = [[], [], [], 0, false, 0, false];
  });
  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    await redis.del(stream, `${stream}:refused`);
    redis.disconnect();
  });

  const capture = async (operation: Ended): Promise<Captured> => {
    if (failing) throw new Error('the queue keeps nothing');
    ended.push(operation);
    return { job: '', subject: '', payload: '' };
  };
  async function start(
    changed: Partial<
      Pick<Parameters<typeof startStreamConsumer>[0], 'abandonedAfterMs' | 'capture' | 'clock' | 'ended' | 'logger'>
    > = {},
  ): Promise<StreamConsumer> {
    const consumer = await startStreamConsumer({
      url: redisUrl!,
      stream,
      consumer: randomUUID(),
      clock,
      clockIsWrong: () => isWrong,
      capture,
      ended: async (found) => void endings.push(found),
      refused: () => {
        refusals += 1;
      },
      logger: silent,
      ...changed,
    });
    consumers.push(consumer);
    return consumer;
  }
  const append = (changed?: Record<string, string>) => redis.xadd(stream, '*', ...record(changed).flat());
  const emptied = () => eventually(async () => (await redis.xlen(stream)) === 0);

  it('takes what was appended before it came and after, in order, and leaves nothing behind', async () => {
    const ids = [await append(), await append()];
    await start();
    await eventually(() => ended.length === 2);
    ids.push(await append());
    await emptied();
    const sequences = ended.map(({ observed }) => observed.sequence);
    expect(sequences).toEqual([...sequences].sort());
    expect(ended.map(({ observed }) => observed.atMs)).toEqual(ids.map((id) => Number(id!.split('-')[0])));
  });

  it('tells how far the clock of the Redis is ahead of its own, by which the entries are timed', async () => {
    offMs = -3_000;
    await append();
    await start();
    await emptied();
    expect(Math.abs(ended[0]!.observed.aheadMs! - 3_000)).toBeLessThan(1_500);
  });

  it('takes the least of what its readings tell of how far that clock is ahead, until one contradicts it', () => {
    const least = leastAhead();
    const read = (aheadMs: number, tookMs: number) => least({ aheadMs, aheadAtLeastMs: aheadMs - tookMs });
    expect([read(3, 2), read(150, 148), read(2, 2), read(90, 90)]).toEqual([3, 3, 2, 2]);
    // Set back, then ahead.
    expect([read(-40, 3), read(500, 5)]).toEqual([-40, 500]);
  });

  it('times an entry by the least, also when that Redis answers slowly just then', async () => {
    let [readings, tookMs] = [0, 0];
    /** As if each answer took so long: every second reading is the one after it. */
    const waiting = {
      now() {
        readings += 1;
        return Date.now() - (readings % 2 === 1 ? tookMs : 0);
      },
    };
    await start({ clock: waiting });
    await append();
    await emptied();
    tookMs = 2_000;
    await append();
    await emptied();
    expect(ended).toHaveLength(2);
    expect(ended[1]!.observed.aheadMs).toBeLessThan(1_500);
  });

  it('calls a time wrong that is later than the clock of the Redis, or from one that differs from a right clock', async () => {
    const examined = async () => {
      const config = { stream, tapList: undefined, endings: false };
      const findings = await examineCaptureRedis(redisUrl!, config, clock);
      return findings.find(({ check }) => check === 'conserver clock')!;
    };
    await start();
    await append();
    await emptied();
    expect((await examined()).state).toBe('ok');
    offMs = -60_000;
    await append();
    await emptied();
    expect((await examined()).found).toContain('60 s ahead of this machine’s');
    isWrong = true;
    await append();
    await emptied();
    [offMs, isWrong] = [0, false];
    // The clock of the Redis was an hour ahead once: ids of the stream stay there.
    const ahead = Date.now() + 3_600_000;
    await redis.xadd(stream, `${ahead}-0`, ...record().flat());
    await redis.xadd(stream, '*', ...ending().flat());
    await emptied();
    expect(ended.map(({ observed }) => observed.clockWrong)).toEqual([undefined, true, undefined, true]);
    expect(endings.map(({ observed }) => observed.clockWrong)).toEqual([true]);
    expect((await examined()).found).toContain(new Date(ahead).toISOString());
  });

  it('gives each change that a tracer saw a job of its own, the same when the entry is set aside and replayed', async () => {
    const uuid = randomUUID();
    const first = await append({ method: 'tracer', uuid });
    await append({ method: 'tracer', uuid });
    await append({ method: 'tracer', uuid, entry: first! });
    await append({ uuid });
    await append({ uuid });
    await start();
    await emptied();
    const jobs = ended.map(({ operation, vcon }) =>
      operationJobId(operation, { subject: uuid, payload: vcon.payload }),
    );
    expect(new Set(jobs).size).toBe(3);
    expect([jobs[2], jobs[4]]).toEqual([jobs[0], jobs[3]]);
  });

  it('acknowledges only what is kept: while the queue keeps nothing, the stream does', async () => {
    failing = true;
    await append();
    await append();
    await redis.xgroup('CREATE', stream, STREAM_GROUP, '0');
    await start();
    await eventually(async () => ((await redis.xpending(stream, STREAM_GROUP)) as [number])[0] === 2);
    expect(await redis.xlen(stream)).toBe(2);
    failing = false;
    await emptied();
    expect(ended).toHaveLength(2);
  });

  it('takes over what a consumer has taken and not kept', async () => {
    const id = await append();
    await redis.xgroup('CREATE', stream, STREAM_GROUP, '0');
    await redis.xreadgroup('GROUP', STREAM_GROUP, 'dead', 'COUNT', 1, 'STREAMS', stream, '>');
    await start({ abandonedAfterMs: 100 });
    await emptied();
    expect(ended.map(({ observed }) => observed.atMs)).toEqual([Number(id!.split('-')[0])]);
  });

  it('keeps aside what is no record, with the reason, and goes on behind it', async () => {
    await append({ hash: 'none' });
    await append({ operation: 'call anna@example.org' });
    await append({ tenancy: 'a b' });
    await append({ version: '2' });
    await append({ method: 'storages', operation: 'vcon_created', key: randomUUID(), storages: '{}' });
    await append({ method: 'storages', operation: 'vcon_deleted', key: randomUUID(), storages: '{"s3":"perhaps"}' });
    await append();
    await start();
    await emptied();
    expect(ended).toHaveLength(1);
    expect(endings).toEqual([]);
    expect(refusals).toBe(6);
    const aside = await redis.xrange(`${stream}:refused`, '-', '+');
    expect(aside).toHaveLength(6);
    expect(aside[0]![1].slice(2, 4)).toEqual(['reason', 'hash: must be 64 lower-case hex digits']);
  });

  it('keeps an entry that can be put nowhere aside, and counts it when it is put there', async () => {
    await redis.set(`${stream}:refused`, 'another kind');
    await append({ hash: 'none' });
    const consumer = await start();
    await eventually(async () => (await redis.xinfo('GROUPS', stream).catch(() => [])) !== undefined);
    await wait(300);
    await consumer.close();
    expect([await redis.xlen(stream), refusals]).toEqual([1, 0]);
    await redis.del(`${stream}:refused`);
    await start({ abandonedAfterMs: 50 });
    await emptied();
    expect([await redis.xlen(`${stream}:refused`), refusals]).toEqual([1, 1]);
  });

  it('puts an entry aside once, also if the answer that it is there is lost', async () => {
    await append({ hash: 'none' });
    let lost = 0;
    const { sendCommand } = Redis.prototype;
    vi.spyOn(Redis.prototype, 'sendCommand').mockImplementation(async function (this: Redis, command, ...rest) {
      const answer = await sendCommand.call(this, command, ...rest);
      const setsAside = command.name === 'xadd' || (command.name === 'eval' && /xadd/.test(String(command.args[0])));
      if (!setsAside || lost > 0) return answer;
      lost += 1;
      throw new Error('Connection is closed.');
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await start({ abandonedAfterMs: 50 });
    await emptied();
    await eventually(() => lost === 1);
    await wait(300);
    expect(await redis.xlen(`${stream}:refused`)).toBe(1);
  });

  it('puts an entry aside that has more fields than a script takes', async () => {
    await append({ hash: 'none', ...Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 'x'])) });
    await start();
    await emptied();
    expect([await redis.xlen(`${stream}:refused`), refusals]).toEqual([1, 1]);
  });

  it('takes what waits in a Redis that is full, which refuses to make anything, also a group that is there', async () => {
    await append();
    await redis.xgroup('CREATE', stream, STREAM_GROUP, '0');
    const full = { sent: [] as string[] };
    const { sendCommand } = Redis.prototype;
    vi.spyOn(Redis.prototype, 'sendCommand').mockImplementation(function (this: Redis, command, ...rest) {
      full.sent.push(command.name);
      if (command.name === 'xgroup') return Promise.reject(new Error('OOM command not allowed'));
      return sendCommand.call(this, command, ...rest);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await start();
    await emptied();
    expect([ended.length, full.sent.includes('xgroup')]).toEqual([1, false]);
  });

  it('says that entries are lost when the stream is gone, as after an eviction', async () => {
    const errors: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
    await start({ logger });
    await append();
    await emptied();
    expect(errors).toEqual([]);
    await redis.del(stream);
    await eventually(() => errors.length > 0);
    expect(errors.join()).toContain('the stream of operations is gone');
  });

  it('records no end before the older entries that a dead consumer has taken', async () => {
    await append();
    await redis.xgroup('CREATE', stream, STREAM_GROUP, '0');
    await redis.xreadgroup('GROUP', STREAM_GROUP, 'dead', 'COUNT', 1, 'STREAMS', stream, '>');
    await redis.xadd(stream, '*', ...ending().flat());
    const order: string[] = [];
    await start({
      abandonedAfterMs: 1_000,
      capture: async (operation) => {
        order.push('capture');
        return capture(operation);
      },
      ended: async () => void order.push('end'),
    });
    await emptied();
    expect(order).toEqual(['capture', 'end']);
  });

  it('records the operation on a document with more consents than are compared', async () => {
    const consent = { digest: HASH, granted: [HASH] };
    await append({ consents: JSON.stringify(Array.from({ length: 1_000 }, () => consent)) });
    await append({ consents: JSON.stringify(Array.from({ length: 1_001 }, () => consent)) });
    await append({ consents: JSON.stringify([{ ...consent, granted: Array.from({ length: 1_001 }, () => HASH) }]) });
    await start();
    await emptied();
    expect(ended.map(({ vcon }) => vcon.consents?.length)).toEqual([1_000, undefined, undefined]);
    expect(refusals).toBe(0);
  });

  it('gives an entry to one of two consumers, and starts anew on a Redis that was emptied', async () => {
    await start();
    await start();
    await Promise.all(Array.from({ length: 50 }, () => append()));
    await emptied();
    expect(ended).toHaveLength(50);
    await redis.del(stream);
    await append();
    await emptied();
    expect(ended).toHaveLength(51);
  });

  it.skipIf(!pythonPath || !hasRedisPy)('has what the wheel appends with redis-py', async () => {
    const uuid = randomUUID();
    const options = { stream, vcon_operation: 'vcon_sent', chain: 'main' };
    const steps: Step[] = [
      { set: uuid, document: JSON.stringify({ uuid, parties: [], attachments: [] }) },
      { link: 'evidence_sent', uuid, options },
      { tracer: [uuid, uuid], links: ['tag'], index: -1, options: { stream } },
      { set: uuid, document: JSON.stringify({ uuid, parties: [], attachments: [{ purpose: 'tags', body: ['a:b'] }] }) },
      { tracer: [uuid, uuid], links: ['tag'], index: 0, options: { stream } },
    ];
    const { results } = driveWheel(steps, redisUrl!);
    expect(results.map(({ answer }) => answer)).toEqual([null, uuid, null, null, null]);
    await start();
    await emptied();
    expect(ended).toMatchObject([
      { operation: { name: 'vcon_sent', chain: 'main', link: 'evidence_sent' }, method: 'link', vcon: { uuid } },
      { operation: { name: 'vcon_enhanced', link: 'tag' }, method: 'tracer', vcon: { uuid } },
    ]);
    await redis.del(`vcon:${uuid}`);
  });
});
