import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { durabilityOf, redisDurability } from '../../../src/platform/queue/redis-durability.js';
import { redisServerPath } from '../../support/prerequisites.js';

describe('what a Redis keeps', () => {
  it.each([
    [{ appendOnly: false, appendFsync: 'always', knowsWaitAof: true }, 'not kept'],
    [{ appendOnly: true, appendFsync: 'always', knowsWaitAof: false }, 'synced with each command'],
    [{ appendOnly: true, appendFsync: 'everysec', knowsWaitAof: true }, 'synced on request'],
    [{ appendOnly: true, appendFsync: undefined, knowsWaitAof: true }, 'synced on request'],
    [{ appendOnly: true, appendFsync: 'everysec', knowsWaitAof: false }, 'synced each second'],
    [{ appendOnly: true, appendFsync: undefined, knowsWaitAof: false }, 'synced each second'],
  ] as const)('%j is %s', (settings, durability) => {
    expect(durabilityOf(settings)).toBe(durability);
  });

  it('does not count as keeping anything while its file, just turned on, is being written', () => {
    const settings = { appendOnly: true, appendFsync: 'always', knowsWaitAof: false, rewriting: true };
    expect(durabilityOf(settings, 'not kept')).toBe('not kept');
    expect(durabilityOf({ ...settings, rewriting: false }, 'not kept')).toBe('synced with each command');
    expect(durabilityOf(settings, 'synced with each command')).toBe('synced with each command');
  });
});

describe.skipIf(!redisServerPath)('a Redis server', () => {
  let folder: string;
  let server: ChildProcess;
  let redis: Redis;
  let said: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'redis-'));
    said = [];
  });
  afterEach(async () => {
    redis.disconnect();
    await stop();
    await rm(folder, { recursive: true });
  });

  async function start(...settings: string[]): Promise<void> {
    const own = ['--port', '0', '--unixsocket', join(folder, 's'), '--dir', folder, '--save', ''];
    server = spawn(redisServerPath!, [...own, ...settings], { stdio: 'ignore' });
    for (let round = 0; round < 100; round += 1) {
      const probe = new Redis(join(folder, 's'), { lazyConnect: true, retryStrategy: () => null });
      probe.on('error', () => undefined);
      const ready = await probe.connect().then(
        () => true,
        () => false,
      );
      probe.disconnect();
      if (ready) return;
      await wait(50);
    }
  }

  async function stop(): Promise<void> {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }

  function check(clock?: { now(): number }): Promise<() => Promise<void>> {
    redis = new Redis(join(folder, 's'), { retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    return redisDurability(
      redis,
      pino({ level: 'warn' }, { write: (line: string) => said.push(JSON.parse(line).msg) }),
      clock,
    );
  }

  it('without an append-only file is refused, with a word on what to set', async () => {
    await start('--maxmemory-policy', 'noeviction');
    const confirm = await check();
    await expect(confirm()).rejects.toThrow('no append-only file');
    expect(said).toEqual([expect.stringContaining('Set appendonly yes')]);
  });

  it('that syncs with each command is taken without a word', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction');
    await redisWrite(await check());
    expect(said).toEqual([]);
  });

  it('that syncs each second is taken, with a loud word about that second where it cannot be asked to sync', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction');
    await redisWrite(await check());
    const [, major, minor] = /redis_version:(\d+)\.(\d+)/.exec(await redis.info('server'))!;
    const canBeAsked = Number(major) * 100 + Number(minor) >= 702;
    expect(said).toEqual(canBeAsked ? [] : [expect.stringContaining('a power cut may lose')]);
  });

  it('that may evict jobs is taken with a word', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'allkeys-lru');
    await redisWrite(await check());
    expect(said).toEqual([expect.stringContaining('maxmemory-policy is allkeys-lru')]);
  });

  it('is looked at again: no write is confirmed after its file was turned off, and writes are as soon as it is on', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always');
    let nowMs = 1_000_000;
    const confirm = await check({ now: () => nowMs });
    await redisWrite(confirm);
    await redis.config('SET', 'appendonly', 'no');
    nowMs += 3_000;
    await expect(confirm()).rejects.toThrow('no append-only file');
    await redis.config('SET', 'appendonly', 'yes');
    await expect.poll(() => redis.info('persistence')).toContain('aof_rewrite_in_progress:0');
    await redisWrite(confirm);
  });

  it('is asked anew when it comes back with other settings', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always');
    const confirm = await check();
    await redisWrite(confirm);
    await stop();
    await start();
    await redis.set('k', 'v');
    await wait(100);
    await expect(confirm()).rejects.toThrow('no append-only file');
  });

  async function redisWrite(confirm: () => Promise<void>): Promise<void> {
    await redis.set('k', 'v');
    await expect(confirm()).resolves.toBeUndefined();
  }
});
