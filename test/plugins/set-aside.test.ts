import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Captured } from '../../plugins/capture/capture-operation.js';
import type { Ended } from '../../plugins/capture/ended.js';
import { RECEIPT_QUEUE } from '../../plugins/receipts/receipt-job.js';
import { refusedStream, startStreamConsumer } from '../../plugins/stream/stream-consumer.js';
import { openRedisQueues } from '../../src/platform/queue/open-queue-backend.js';
import { commandLine } from '../support/command-line.js';
import { emptyRedis, ownRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { eventually, silent } from './plugin-rig.js';

const HOUR_MS = 3_600_000;

async function run(...args: string[]): Promise<{ out: string; exitCode: number }> {
  const { said, exitCode } = await commandLine(args);
  return { out: said, exitCode };
}

interface Inventory {
  readonly spool: { readonly depth: number; readonly oldestSeconds: number };
  readonly setAside: readonly { readonly id: string; readonly reason: string }[];
}

describe.skipIf(!redisUrl)('what is set aside', () => {
  let folder: string;
  let spool: string;
  let redis: Redis;
  let stream: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aside-'));
    spool = join(folder, 'plugin', 'spool');
    await mkdir(spool, { recursive: true });
    stream = `stream-${randomUUID()}`;
    vi.stubEnv('REDIS_URL', await emptyRedis());
    vi.stubEnv('DATABASE_URL', undefined);
    vi.stubEnv('DATA_DIR', folder);
    vi.stubEnv('CONSERVER_REDIS_URL', ownRedisUrl('plugin'));
    vi.stubEnv('CONSERVER_STREAM', stream);
    redis = new Redis(ownRedisUrl('plugin'));
  });
  afterEach(async () => {
    await redis.del(stream, refusedStream(stream));
    redis.disconnect();
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });

  const inventory = async () => JSON.parse((await run('queue', '--json')).out) as Inventory;

  const times = { clock: { now: () => Date.now() }, clockIsWrong: () => false };

  it('in the stream is shown with its reason, and tried again with the time at which it was captured', async () => {
    const captured: Ended[] = [];
    const parts = { url: ownRedisUrl('plugin'), stream, consumer: randomUUID(), refused: () => undefined, ...times };
    const ended = async () => undefined;
    const capture = async (ended: Ended): Promise<Captured> => {
      captured.push(ended);
      return { job: '', subject: '', payload: '' };
    };
    const consumer = await startStreamConsumer({ ...parts, capture, ended, logger: silent });
    const entry = await redis.xadd(stream, '*', 'version', '9', 'operation', 'vcon_created', 'hash', 'ab'.repeat(32));
    await eventually(async () => (await redis.xlen(refusedStream(stream))) === 1);
    const [aside] = (await inventory()).setAside;
    expect(aside).toMatchObject({ reason: expect.stringContaining('version') });
    expect((await run('queue')).out).toContain(aside!.id);
    expect(await run('queue', 'replay', aside!.id)).toMatchObject({ exitCode: 0 });
    // It is no better than it was.
    await eventually(async () => (await inventory()).setAside.some(({ id }) => id !== aside!.id));
    await consumer.close();
    const [[, fields]] = (await redis.xrange(refusedStream(stream), '-', '+')) as [[string, string[]]];
    expect(fields.filter((text) => text === 'entry').length).toBeLessThanOrEqual(2);
    // A newer plugin reads it.
    await redis.xdel(refusedStream(stream), (await inventory()).setAside[0]!.id.slice('stream:'.length));
    const good = ['version', '1', 'method', 'link', 'operation', 'vcon_created', 'hash', 'ab'.repeat(32)];
    await redis.xadd(refusedStream(stream), '*', 'entry', entry!, 'reason', 'was unknown', ...good);
    expect((await run('queue', 'replay', '--all')).out).toContain('1 ');
    const second = await startStreamConsumer({ ...parts, capture, ended, logger: silent });
    await eventually(() => captured.length === 1);
    expect(captured[0]!.observed.atMs).toBe(Number(entry!.split('-')[0]));
    await second.close();
    expect((await inventory()).setAside).toEqual([]);
  });

  it('in the stream for its operation or tenancy is recorded once an operator gives one that can be', async () => {
    const captured: Ended[] = [];
    const parts = { url: ownRedisUrl('plugin'), stream, consumer: randomUUID(), refused: () => undefined, ...times };
    const capture = async (ended: Ended): Promise<Captured> => {
      captured.push(ended);
      return { job: '', subject: '', payload: '' };
    };
    const consumer = await startStreamConsumer({ ...parts, capture, ended: async () => undefined, logger: silent });
    const record = ['version', '1', 'method', 'link', 'hash', 'ab'.repeat(32)];
    const add = (...labels: string[]) => redis.xadd(stream, '*', ...record, ...labels);
    const entry = await add('operation', 'vcon sent');
    await add('operation', 'vcon_sent', 'tenancy', 'north west');
    await eventually(async () => (await redis.xlen(refusedStream(stream))) === 2);
    const [second, first] = (await inventory()).setAside.map(({ id }) => id);
    const all = await run('queue', 'replay', '--all');
    for (const id of [first, second]) {
      const { out, exitCode } = await run('queue', 'replay', id!);
      expect([exitCode, out]).toEqual([1, expect.stringContaining('would be refused again')]);
      expect(all.out).toContain(`${id} stays: it would be refused again: `);
    }
    expect(all.out).toMatch(/^0 /);
    expect((await run('queue', 'replay', first!, '--operation', 'call_2125550123')).exitCode).toBe(1);
    expect((await run('queue', 'replay', '--all', '--operation', 'vcon_sent')).exitCode).toBe(2);
    expect((await run('queue', 'replay', 'spool:x', '--tenancy', 'north')).exitCode).toBe(2);
    expect(await redis.xlen(refusedStream(stream))).toBe(2);
    expect((await run('queue', 'replay', first!, '--operation', 'vcon_sent')).exitCode).toBe(0);
    expect((await run('queue', 'replay', second!, '--tenancy', 'north-west')).exitCode).toBe(0);
    await eventually(() => captured.length === 2);
    await consumer.close();
    expect(captured.map(({ operation }) => operation)).toEqual([
      { name: 'vcon_sent' },
      { name: 'vcon_sent', tenancy: 'north-west' },
    ]);
    expect(captured[0]!.observed.atMs).toBe(Number(entry!.split('-')[0]));
    expect((await inventory()).setAside).toEqual([]);
  });

  it('is counted in full and replayed in full, however many of it are listed', async () => {
    const adding = redis.pipeline();
    const record = ['version', '1', 'method', 'link', 'hash', 'ab'.repeat(32), 'operation', 'vcon_sent'];
    for (let entry = 1; entry <= 502; entry += 1)
      adding.xadd(refusedStream(stream), `${entry}-0`, 'entry', `${entry}-0`, 'reason', 'was unknown', ...record);
    await adding.exec();
    const { out } = await run('queue', '--limit', '2');
    expect(out).toMatch(
      /set aside {13}502\n {2}stream:502-0\n {4}was unknown\n {2}stream:501-0\n.*\n\n {2}and 500 more: --limit$/,
    );
    expect((await run('queue', '--limit', '0')).out).toMatch(/set aside {13}502$/);
    expect((await run('queue', 'replay', '--all')).out).toMatch(/^502 /);
    expect(await redis.xlen(stream)).toBe(502);
    expect(await inventory()).toMatchObject({ setAside: [], setAsideCount: 0 });
  });

  it('in a stream that cannot be read is named as not looked at, and a replay of it fails in one line', async () => {
    vi.stubEnv('CONSERVER_REDIS_URL', 'redis://:hush-hush@127.0.0.1:1');
    const unread = 'the stream of CONSERVER_REDIS_URL: nothing listens there (ECONNREFUSED, 127.0.0.1:1)';
    const shown = await run('queue');
    expect([shown.exitCode, shown.out]).toEqual([0, expect.stringContaining(`\nnot looked at: ${unread}`)]);
    expect(await run('queue', 'replay', 'stream:1-1')).toEqual({ out: `error: ${unread}`, exitCode: 1 });
    const all = await run('queue', 'replay', '--all');
    expect([all.exitCode, all.out]).toEqual([
      1,
      expect.stringMatching(/^0 .*\nnot looked at: the stream of CONSERVER/),
    ]);
    const document = JSON.parse((await run('queue', '--json', 'replay', '--all')).out);
    expect(document).toEqual({ replayed: 0, notLookedAt: [unread] });
  });

  it('is not said to be delivered by the commands that take jobs', async () => {
    for (const command of [['show'], ['drop', '--reason', 'test call']]) {
      const { out, exitCode } = await run('queue', ...command, 'stream:1-1');
      expect([exitCode, out]).toEqual([1, expect.stringMatching(/stream:1-1 is not a job.*queue replay/)]);
    }
  });

  it('on this disk is shown, with what waits there and for how long, by queue and doctor', async () => {
    const oldest = String(Date.now() - 2 * HOUR_MS).padStart(14, '0');
    await writeFile(join(spool, `${oldest}-00000000-job.operation`), '{}');
    await writeFile(join(spool, `${oldest}-00000001-job.refused`), 'torn');
    const { spool: waiting, setAside } = await inventory();
    expect(waiting).toMatchObject({ depth: 1 });
    expect(waiting.oldestSeconds).toBeGreaterThan(7_199);
    expect(setAside.map(({ id }) => id)).toEqual([`spool:${oldest}-00000001-job.refused`]);
    expect((await run('queue')).out).toMatch(/waiting on this disk {2}1, the oldest for 2 h/);
    const findings = JSON.parse((await run('doctor', '--json')).out).findings as { check: string; state: string }[];
    const of = (check: string) => findings.find((finding) => finding.check === check)?.state;
    expect([of('spool'), of('spool files')]).toEqual(['change', 'change']);
    expect((await run('queue', 'replay', setAside[0]!.id)).exitCode).toBe(0);
    expect(await inventory()).toMatchObject({ spool: { depth: 2 }, setAside: [] });
    expect((await run('queue', 'replay', setAside[0]!.id)).exitCode).toBe(1);
  });

  it('among the receipts is shown, and fetched again', async () => {
    const backend = await openRedisQueues(ownRedisUrl('plugin'), silent);
    try {
      const worker = backend.worker(RECEIPT_QUEUE, () => Promise.reject(new Error('signature_invalid: no')));
      await backend.queue(RECEIPT_QUEUE).add('vcon_created', {}, { jobId: 'some-job', attempts: 1 });
      await eventually(async () => (await backend.queue(RECEIPT_QUEUE).getJobCountByTypes('failed')) === 1);
      await worker.close();
      expect((await inventory()).setAside).toEqual([{ id: 'receipt:some-job', reason: 'signature_invalid: no' }]);
      expect((await run('queue', 'replay', 'receipt:some-job')).exitCode).toBe(0);
      expect(await backend.queue(RECEIPT_QUEUE).getJobState('some-job')).toBe('waiting');
    } finally {
      await backend.close();
    }
  });
});
