import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notifiesOfEndings, startKeyspaceEndings } from '../../plugins/endings/keyspace-endings.js';
import { askToLook, isLooking, readLooker } from '../../plugins/endings/look-list.js';
import { examineCaptureRedis } from '../../plugins/operator/examine-capture.js';
import { conserverPredecessors } from '../../plugins/tap/conserver-predecessors.js';
import { privateRedis, redisCommand } from '../faults/private-servers.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { hasRedisPy, pythonPath, redisJsonPath, redisServerPath, redisUrl } from '../support/prerequisites.js';
import { eventually, silent } from './plugin-rig.js';
import { driveWheel, type Step, startWheel } from './python-wheel.js';

const UUID_REST = '-0000-4000-8000-000000000000';

describe.skipIf(!redisUrl)('reasons to look for the end of a vCon', () => {
  let redis: Redis;
  let stream: string;
  let counted: string[];
  let listener: { close(): Promise<void> } | undefined;

  beforeEach(async () => {
    redis = new Redis(ownRedisUrl('plugin'));
    stream = `endings-${randomUUID()}`;
    counted = [];
    await redis.config('SET', 'notify-keyspace-events', 'Exgd');
  });
  afterEach(async () => {
    await listener?.close();
    await redis.del(`${stream}:look`, `${stream}:look:tries`, `${stream}:looker`);
    redis.disconnect();
  });

  const waiting = () => redis.zrange(`${stream}:look`, '0', '-1');
  async function listen(isKnown: (uuid: string) => Promise<boolean> = async () => true): Promise<void> {
    const tell = (what: string) => () => void counted.push(what);
    const counts = { unknown: tell('unknown'), unlooked: tell('unlooked') };
    listener = startKeyspaceEndings({ url: ownRedisUrl('plugin'), stream, logger: silent, isKnown, ...counts });
    const channel = `__keyevent@${redis.options.db}__:del`;
    await eventually(async () => ((await redis.pubsub('NUMSUB', channel))[1] as number) > 0);
  }

  it('are keys of vCons that expired or were deleted, and no other keys; a failure is tried again', async () => {
    let failures = 1;
    await listen(async () => {
      if (failures-- > 0) throw new Error('the memory does not answer');
      return true;
    });
    const [expiring, deleted] = [randomUUID(), randomUUID()];
    await redis.set(`vcon:${deleted}`, '{}');
    await redis.set(`vcon:${expiring}`, '{}', 'PX', 50);
    await redis.set(`other:${deleted}`, '{}', 'PX', 50);
    await redis.del(`vcon:${deleted}`);
    await eventually(async () => (await waiting()).length >= 2);
    expect((await waiting()).sort()).toEqual([`deleted:${deleted}`, `expired:${expiring}`]);
    const due = Number(await redis.zscore(`${stream}:look`, `deleted:${deleted}`));
    expect(due - Date.now()).toBeGreaterThan(5_000);
  });

  it('are no path of a document, which RedisJSON notifies of alike, and no vCon that was put back', async () => {
    await listen();
    const [changed, gone] = [randomUUID(), randomUUID()];
    await redis.set(`vcon:${changed}`, '{}');
    const channel = `__keyevent@${redis.options.db}__:json.del`;
    await redis.publish(channel, `vcon:${changed}`);
    await redis.publish(channel, `vcon:${gone}`);
    await eventually(async () => (await waiting()).length === 1);
    expect(await waiting()).toEqual([`deleted:${gone}`]);
    await redis.del(`vcon:${changed}`);
  });

  it('keep the UUID as the key spells it, which Redis and the storages know, and compare it in lower case', async () => {
    const asked: string[] = [];
    await listen(async (uuid) => asked.push(uuid) > 0);
    const uuid = randomUUID().toUpperCase();
    await redis.set(`vcon:${uuid}`, '{}', 'PX', 20);
    await eventually(async () => (await waiting()).length === 1);
    expect([await waiting(), asked]).toEqual([[`expired:${uuid}`], [uuid.toLowerCase()]]);
  });

  // The setting is one for all databases of a server: that of the other tests stays as they need it.
  it.skipIf(!redisServerPath)('are asked for at the start, where Redis does not notify of all of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'endings-'));
    const { url, close } = await privateRedis(join(folder, 'redis'));
    try {
      await redisCommand(url, (client) => client.config('SET', 'notify-keyspace-events', 'Exg'));
      const warnings: string[] = [];
      const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
      const parts = { url, stream, logger, isKnown: async () => true };
      listener = startKeyspaceEndings({ ...parts, unknown: () => undefined, unlooked: () => undefined });
      await eventually(() => warnings.length > 0);
      expect(warnings.join()).toContain('needs notify-keyspace-events Exgd, and has');
    } finally {
      await listener?.close();
      listener = undefined;
      await close();
      rmSync(folder, { recursive: true });
    }
  });

  it('are kept of a vCon that is not known yet while entries of the stream wait, or the memory does not answer', async () => {
    let known: () => Promise<boolean> = async () => false;
    await listen(() => known());
    const [waitingEntry, slow] = [randomUUID(), randomUUID()];
    await redis.xadd(stream, '*', 'a', 'b');
    await redis.set(`vcon:${waitingEntry}`, '{}', 'PX', 20);
    await eventually(async () => (await waiting()).length === 1);
    await redis.del(stream);
    known = () => new Promise(() => undefined);
    await redis.set(`vcon:${slow}`, '{}', 'PX', 20);
    await eventually(async () => (await waiting()).length === 2);
    expect(counted).not.toContain('unknown');
  });

  it('are counted and not kept of a vCon that was never captured', async () => {
    await listen(async () => false);
    const uuid = randomUUID();
    await redis.set(`vcon:${uuid}`, '{}', 'PX', 20);
    await eventually(() => counted.length > 0);
    expect([counted, await waiting()]).toEqual([['unknown'], []]);
  });

  it('are counted as not looked at while no wheel looks, and wait for one', async () => {
    await listen();
    const uuid = randomUUID();
    await redis.set(`vcon:${uuid}`, '{}', 'PX', 20);
    await eventually(() => counted.length > 0);
    expect([counted, await waiting()]).toEqual([['unlooked'], [`expired:${uuid}`]]);
    await redis.hset(`${stream}:looker`, 'beat', String(Date.now()));
    const next = randomUUID();
    await redis.set(`vcon:${next}`, '{}', 'PX', 20);
    await eventually(async () => (await waiting()).length === 2);
    expect(counted).toEqual(['unlooked']);
    await redis.hset(`${stream}:looker`, 'beat', String(Date.now() - 600_000));
    expect(isLooking(await readLooker(redis, stream))).toBe(false);
  });

  it('are counted as not looked at, and not kept, while 100,000 wait already', async () => {
    const fill = "for n = 1, 100000 do redis.call('zadd', KEYS[1], 1e15, 'expired:' .. n) end";
    await redis.eval(fill, 1, `${stream}:look`);
    await redis.hset(`${stream}:looker`, 'beat', String(Date.now()));
    await listen();
    const uuid = randomUUID();
    await redis.set(`vcon:${uuid}`, '{}', 'PX', 20);
    await eventually(() => counted.length > 0);
    expect([counted, await redis.zscore(`${stream}:look`, `expired:${uuid}`)]).toEqual([['unlooked'], null]);
  });

  it('are examined by the doctor: who notifies, who looks, which storages are asked', async () => {
    const config = { stream, tapList: undefined, endings: true };
    const found = async () => {
      const findings = await examineCaptureRedis(ownRedisUrl('plugin'), config, { now: () => Date.now() });
      return findings.filter(({ check }) => check.startsWith('endings')).map(({ state, found: text }) => [state, text]);
    };
    const notified = ['ok', 'Redis sends notifications; expiries while no plugin listens are missed'];
    const nobody = 'no wheel checks the storages, so no ending is recorded; 0 waiting to be looked for';
    expect(await found()).toEqual([notified, ['change', nobody]]);
    const storages = { storages: '["crm","s3"]', not_asked: '["crm"]' };
    await redis.hset(`${stream}:looker`, { beat: String(Date.now()), version: '0.2.0', ...storages });
    const asks = 'wheel 0.2.0 asks s3; not asked, as configured: crm; 0 waiting to be looked for';
    expect(await found()).toEqual([notified, ['ok', asks]]);
    await redis.hset(`${stream}:looker`, { unanswered: '2' });
    expect((await found())[1]![0]).toBe('change');
  });

  it('are examined beside the stream and the tap, whose backlog and refused entries ask for a change', async () => {
    const tapList = `tap-${randomUUID()}`;
    const config = { stream, tapList, endings: false };
    const found = async () => {
      const findings = await examineCaptureRedis(ownRedisUrl('plugin'), config, { now: () => Date.now() });
      return findings.filter(({ check }) => !check.startsWith('conserver')).map((each) => [each.state, each.found]);
    };
    try {
      const refused = `${stream}:refused`;
      const none = [
        ['ok', `0 waiting in ${stream}`],
        ['ok', 'none'],
        ['ok', `0 waiting in ${tapList}`],
      ];
      expect(await found()).toEqual(none);
      await redis.xadd(refused, '*', 'reason', 'unknown');
      const fill =
        "for n = 1, 1001 do redis.call('xadd', KEYS[1], '*', 'a', 'b') redis.call('rpush', KEYS[2], 'x') end";
      await redis.eval(fill, 2, stream, tapList);
      expect(await found()).toEqual([
        ['change', `1001 waiting in ${stream}`],
        ['change', `1 in ${refused}`],
        ['change', `1001 waiting in ${tapList}`],
      ]);
      const behind = await examineCaptureRedis(ownRedisUrl('plugin'), config, { now: () => Date.now() + 60_000 });
      expect(behind.find(({ check }) => check === 'conserver clock')?.found).toMatch(/ 60 s behind this machine’s$/);
    } finally {
      await redis.del(stream, `${stream}:refused`, tapList);
    }
  });

  it('that got no final answer ask the operator for a change for a day, and are shown with the last time', async () => {
    const config = { stream, tapList: undefined, endings: true };
    const found = async (lastMs: number) => {
      await redis.hset(`${stream}:looker`, {
        beat: String(Date.now()),
        unanswered: '2',
        unanswered_ms: String(lastMs),
      });
      const findings = await examineCaptureRedis(ownRedisUrl('plugin'), config, { now: () => Date.now() });
      return findings.find(({ check }) => check === 'endings in storages')!;
    };
    const [lately, before] = [Date.now() - 23 * 3_600_000, Date.now() - 25 * 3_600_000];
    expect((await found(lately)).state).toBe('change');
    const { state, found: text } = await found(before);
    expect([state, text]).toEqual([
      'ok',
      expect.stringContaining(
        `2 got no final answer from a storage and were not recorded, the last at ${new Date(before).toISOString()}`,
      ),
    ]);
  });

  it('need a Redis that notifies of events of keys, and of each of the three kinds', () => {
    const settings = ['Exgd', 'AE', 'KEA', 'Exg', 'Ex', 'Exd', '', 'Kxgd'];
    expect(settings.filter(notifiesOfEndings)).toEqual(['Exgd', 'AE', 'KEA']);
  });
});

describe.skipIf(!redisServerPath || !redisJsonPath)('on the real RedisJSON', () => {
  let server: ChildProcess;
  let redis: Redis;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'redisjson-'));
    const socket = ['--port', '0', '--unixsocket', join(folder, 'redis.sock'), '--dir', folder, '--save', ''];
    server = spawn(redisServerPath!, [...socket, '--loadmodule', redisJsonPath!], { stdio: 'ignore' });
    await eventually(() => existsSync(join(folder, 'redis.sock')));
    redis = new Redis(join(folder, 'redis.sock'));
  });
  afterEach(async () => {
    redis.disconnect();
    server.kill();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  async function asked(setting: string): Promise<string[]> {
    await redis.config('SET', 'notify-keyspace-events', setting);
    const nothing = () => undefined;
    const isKnown = async () => true;
    const listener = startKeyspaceEndings({
      ...{ url: join(folder, 'redis.sock'), stream: 's', logger: silent },
      ...{ isKnown, unknown: nothing, unlooked: nothing },
    });
    await eventually(async () => ((await redis.pubsub('NUMSUB', '__keyevent@0__:del'))[1] as number) > 0);
    const keys = ['path', 'whole', 'plain', 'expiring'].map(
      (name, place) => [name, `${place}`.repeat(8) + UUID_REST] as const,
    );
    for (const [, uuid] of keys) await redis.call('JSON.SET', `vcon:${uuid}`, '.', '{"uuid":"x","analysis":[]}');
    const [path, whole, plain, expiring] = keys.map(([, uuid]) => `vcon:${uuid}`);
    await redis.call('JSON.DEL', path!, '.analysis');
    await redis.call('JSON.DEL', whole!);
    await redis.del(plain!);
    await redis.pexpire(expiring!, 10);
    await eventually(async () =>
      (await redis.zrange('s:look', '0', '-1')).some((reason) => reason.startsWith('expired')),
    );
    await listener.close();
    const reasons = await redis.zrange('s:look', '0', '-1');
    return keys.filter(([, uuid]) => reasons.some((reason) => reason.endsWith(uuid))).map(([name]) => name);
  }

  it('hears of a deleted document with Exgd, and not of a path in it; with Exg it misses the deletion', async () => {
    expect(await asked('Exgd')).toEqual(['whole', 'plain', 'expiring']);
    await redis.flushall();
    expect(await asked('Exg')).toEqual(['plain', 'expiring']);
  });

  it('answers which vCons a stored one redacts or amends, under old and new names, and leaves its time to live', async () => {
    const [own, redacted, amended, appended] = ['1', '2', '3', 'a'].map((digit) => digit.repeat(8) + UUID_REST);
    const stored = (members: object) =>
      redis.call('JSON.SET', `vcon:${own}`, '$', JSON.stringify({ uuid: own, analysis: [], ...members }));
    const others = {
      redacted: { uuid: redacted },
      amended: { uuid: amended },
      appended: { uuid: appended!.toUpperCase() },
    };
    for (const [members, expected] of [
      [others, [redacted, amended, appended]],
      [{ redacted: { uuid: redacted, type: 'pii' } }, [redacted]],
      [{ redacted: {}, appended: null }, []],
      [{ redacted: { uuid: own }, amended: [{ uuid: amended }] }, []],
      [{ amended: 'text' }, []],
    ] as const) {
      await stored(members);
      await redis.expire(`vcon:${own}`, 1000);
      expect((await conserverPredecessors(redis, own!)).sort()).toEqual(expected);
      expect(await redis.ttl(`vcon:${own}`)).toBeLessThanOrEqual(1000);
    }
    await redis.del(`vcon:${own}`);
    expect(await conserverPredecessors(redis, own!)).toEqual([]);
    expect(await redis.exists(`vcon:${own}`)).toBe(0);
  });
});

describe.skipIf(!redisUrl || !pythonPath || !hasRedisPy)('the wheel that looks for the end of a vCon', () => {
  let redis: Redis;
  let stream: string;
  let folder: string;

  beforeEach(() => {
    redis = new Redis(ownRedisUrl('plugin'));
    stream = `endings-${randomUUID()}`;
    folder = mkdtempSync(join(tmpdir(), 'storages-'));
    for (const name of ['files', 'rows', 'objects']) mkdirSync(join(folder, name));
  });
  afterEach(async () => {
    await redis.del(stream, `${stream}:look`, `${stream}:look:tries`, `${stream}:looker`);
    redis.disconnect();
    rmSync(folder, { recursive: true });
  });

  const rows = (changed: object = {}) => ({
    module: 'storage.database',
    options: { rows: join(folder, 'rows'), ...changed },
  });
  const objects = (changed: object = {}) => ({
    module: 'storage.database',
    options: { rows: join(folder, 'objects'), logs_missing: true, ...changed },
  });
  const files = () => ({ module: 'storage.file', options: { path: join(folder, 'files') } });
  const config = (storages: object, options: object = {}) => ({
    chains: { main: {} },
    storages,
    imports: { endings: { module: 'vcon_archivist_link.watch', options: { stream, ...options } } },
  });
  const drive = (steps: readonly Step[], storages: object, options: object = {}) =>
    driveWheel(steps, ownRedisUrl('plugin'), config(storages, options));
  const put = (uuid: string): Step => ({ set: uuid, document: JSON.stringify({ uuid, parties: [] }) });
  /** Makes every reason due now: the time until then passes. */
  async function pass(): Promise<void> {
    for (const member of await redis.zrange(`${stream}:look`, '0', '-1')) await redis.zadd(`${stream}:look`, 1, member);
  }
  const ask = (reason: string, uuid: string) => redis.zadd(`${stream}:look`, 1, `${reason}:${uuid}`);
  async function recorded(): Promise<Record<string, string>[]> {
    const entries = await redis.xrange(stream, '-', '+');
    return entries.map(([, fields]) =>
      Object.fromEntries(
        Array.from({ length: fields.length / 2 }, (_, place) => fields.slice(2 * place, 2 * place + 2)),
      ),
    );
  }
  const outcome = async (name: string) => Number((await redis.hget(`${stream}:looker`, name)) ?? 0);

  it('records an expiry only when no storage has the vCon any more, and puts nothing back into Redis', async () => {
    const uuid = randomUUID();
    const storages = { mine: files(), postgres: rows(), s3: objects() };
    drive([put(uuid), ...Object.keys(storages).map((store): Step => ({ store, uuid }))], storages);
    await redis.del(`vcon:${uuid}`);
    for (const drop of Object.keys(storages)) {
      await ask('expired', uuid);
      drive([{ look: 1 }], storages);
      expect(await recorded()).toEqual([]);
      drive([{ drop, uuid }], storages);
    }
    expect(await outcome('held')).toBe(3);
    await ask('expired', uuid);
    drive([{ look: 1 }], storages);
    expect(await recorded()).toEqual([
      {
        version: '1',
        method: 'storages',
        operation: 'vcon_expired',
        key: uuid,
        storages: '{"mine": "gone", "postgres": "gone", "s3": "gone"}',
      },
    ]);
    expect(await redis.exists(`vcon:${uuid}`, `${stream}:look`, `${stream}:look:tries`)).toBe(0);
  });

  it('records nothing by a configuration that is being written, and looks again by the whole one', async () => {
    const uuid = randomUUID();
    const storages = { mine: files() };
    drive([put(uuid), { store: 'mine', uuid }], storages);
    await redis.del(`vcon:${uuid}`);
    const whole = config(storages);
    const { imports, chains } = whole;
    const half = { imports, chains };
    await ask('expired', uuid);
    const none: Step[] = [{ configure: { imports } }, { look: 1 }];
    expect(driveWheel(none, ownRedisUrl('plugin'), whole).results[1]).toMatchObject({ raised: 'LookupError' });
    await pass();
    const settling: Step[] = [{ configure: half }, { configure_later: whole, seconds: 0.5 }, { look: 1 }];
    driveWheel(settling, ownRedisUrl('plugin'), whole);
    expect([await recorded(), await outcome('held')]).toEqual([[], 1]);
  });

  it.skipIf(process.getuid?.() !== 0)('takes no folder that cannot be listed for one without the vCon', async () => {
    const day = join(folder, 'files', '2026', '11');
    mkdirSync(day, { recursive: true });
    for (const path of [folder, join(folder, 'files')]) chmodSync(path, 0o755);
    chmodSync(day, 0o700);
    const uuid = randomUUID();
    const asked: Step[] = [{ ask: uuid }, { as_nobody: true }, { ask: uuid }];
    const { results } = drive(asked, { mine: files() });
    expect([results[0]!.answer, results[2]!.answer]).toEqual([{ mine: 'gone' }, { mine: 'failed' }]);
  });

  it('lets a link and a tracer put nothing back either, when a link has taken the vCon out of Redis', async () => {
    const uuid = randomUUID();
    const storages = { postgres: rows() };
    const options = { stream };
    drive([put(uuid), { store: 'postgres', uuid }], storages);
    const tracer = (index: number): Step => ({ tracer: [uuid, uuid], links: ['forget'], index, options });
    drive([tracer(-1)], storages);
    await redis.del(`vcon:${uuid}`);
    const { results } = drive([tracer(-1), tracer(0), { link: 'evidence', uuid, options }], storages);
    expect(results.map(({ raised }) => raised)).toEqual([undefined, undefined, 'LookupError']);
    expect([await recorded(), await redis.exists(`vcon:${uuid}`)]).toEqual([[], 0]);
  });

  it('does not take an error that a storage logs, and hides, for the word that the vCon is gone', () => {
    const uuid = randomUUID();
    const storages = {
      down: rows({ down: true }),
      latest: rows({ latest: true }),
      missing: objects(),
      bucket: objects({ rows: 5 }),
      unmounted: { module: 'storage.file', options: { path: join(folder, 'none') } },
      nowhere: { module: 'storage.nowhere' },
      webhook: { module: 'storage.webhook' },
      crm: { module: 'storage.webhook' },
      hangs: rows({ hangs: true }),
    };
    const steps: Step[] = [{ within: 5 }, { ask: uuid, not_asked: ['crm'] }, { ask: uuid, not_asked: ['crm'] }];
    const { results } = drive(steps, storages);
    const answers = {
      down: 'failed',
      latest: 'failed',
      missing: 'gone',
      bucket: 'failed',
      unmounted: 'failed',
      nowhere: 'failed',
      webhook: 'cannot_be_asked',
      crm: 'not_asked',
      hangs: 'no_answer',
    };
    expect(results[1]!.answer).toEqual(answers);
    expect(results[2]!.answer).toEqual(answers);
    // The one that hangs is not waited for again.
    expect(results[2]!.ms).toBeLessThan(4_500);
  });

  it('names what a deletion left behind, after it has looked again, and a completed deletion after that', async () => {
    const uuid = randomUUID();
    const storages = { mongo: rows(), s3: objects({ down: true }), crm: { module: 'storage.webhook' }, mine: files() };
    drive([put(uuid), { store: 'mongo', uuid }], storages);
    await redis.del(`vcon:${uuid}`);
    drive([{ hook: uuid }], storages);
    for (const looks of [1, 2, 3]) {
      expect(await recorded()).toEqual([]);
      await pass();
      drive([{ look: 1 }], storages);
      if (looks < 3) expect(await redis.hget(`${stream}:look:tries`, `deleted:${uuid}`)).toBe(String(looks));
    }
    const found = '{"crm": "cannot_be_asked", "mine": "gone", "mongo": "held", "s3": "failed"}';
    expect(await recorded()).toMatchObject([{ operation: 'vcon_deletion_incomplete', storages: found }]);
    drive([{ drop: 'mongo', uuid }, { hook: uuid }], { ...storages, s3: objects() });
    await pass();
    drive([{ look: 1 }], { ...storages, s3: objects() }, { not_asked: ['crm'] });
    expect((await recorded())[1]).toMatchObject({
      operation: 'vcon_deleted',
      storages: '{"crm": "not_asked", "mine": "gone", "mongo": "gone", "s3": "gone"}',
    });
    expect(await waitingFor()).toEqual([]);
  });

  it('takes a text in not_asked for one name, not for every storage whose name is in it', async () => {
    const [gone, kept] = [randomUUID(), randomUUID()];
    const storages = { crm: files(), crm_webhook: { module: 'storage.webhook' } };
    const option = { not_asked: 'crm_webhook' };
    drive([put(kept), { store: 'crm', uuid: kept }], storages);
    await redis.del(`vcon:${kept}`);
    await ask('expired', gone);
    await ask('expired', kept);
    drive([{ look: 2 }, { beat: true }], storages, option);
    expect((await recorded()).map(({ key, storages: answers }) => [key, answers])).toEqual([
      [gone, '{"crm": "gone", "crm_webhook": "not_asked"}'],
    ]);
    expect((await readLooker(redis, stream)).notAsked).toEqual(['crm_webhook']);
  });

  it('takes no check and says no beat while not_asked is neither a text nor a list of texts', async () => {
    const uuid = randomUUID();
    await ask('expired', uuid);
    for (const wrong of [{ crm: true }, ['crm', 5], true]) {
      const { results } = drive([{ look: 1 }, { beat: true }], { crm: files() }, { not_asked: wrong });
      expect(results.map(({ raised }) => raised)).toEqual(['OptionError', 'OptionError']);
      expect(results[0]!.message).toMatch(/^option not_asked is .*, but must be a list of texts$/);
    }
    expect([await redis.zscore(`${stream}:look`, `expired:${uuid}`), await recorded()]).toEqual(['1', []]);
    expect(isLooking(await readLooker(redis, stream))).toBe(false);
  });

  it('takes no check and says no beat while there is an option of another name', async () => {
    const uuid = randomUUID();
    await ask('expired', uuid);
    const { results } = drive([{ look: 1 }, { beat: true }], { crm: files() }, { not_askd: ['crm'] });
    expect(results.map(({ raised }) => raised)).toEqual(['OptionError', 'OptionError']);
    expect(results[0]!.message).toBe('there is no option not_askd; the options are stream, not_asked');
    expect(await redis.zscore(`${stream}:look`, `expired:${uuid}`)).toBe('1');
  });

  it('says once in the log, and to the doctor each time, that not_asked names no storage', async () => {
    const beats: Step[] = [{ beat: true }, { beat: true }];
    const { log } = drive(beats, { crm: files() }, { not_asked: ['crm', 'crm_webhok'] });
    expect(log).toEqual(['WARNING: option not_asked names crm_webhok, but there is no such storage']);
    expect((await readLooker(redis, stream)).notAsked).toEqual(['crm', 'crm_webhok (no such storage)']);
  });

  it('says once why it does not look, and looks as soon as the configuration is right', async () => {
    const right = config({ crm: files() });
    const steps: Step[] = [{ work: 2.5 }, { configure: right }, { work: 3 }];
    const { log } = drive(steps, { crm: files() }, { not_asked: 7 });
    const wrong = 'ERROR: ended vCons are not checked: option not_asked is 7, but must be a list of texts';
    expect([log, (await readLooker(redis, stream)).storages]).toEqual([[wrong], ['crm']]);
  });

  const waitingFor = () => redis.zrange(`${stream}:look`, '0', '-1');

  it('records nothing of an expiry about which a storage never answers, and says so', async () => {
    const uuid = randomUUID();
    await ask('expired', uuid);
    for (let tries = 0; tries < 5; tries += 1) {
      expect(await waitingFor()).toEqual([`expired:${uuid}`]);
      await pass();
      drive([{ look: 1 }], { postgres: rows({ down: true }) });
    }
    expect([await waitingFor(), await recorded(), await outcome('unanswered')]).toEqual([[], [], 1]);
    const { unansweredMs, nowMs } = await readLooker(redis, stream);
    expect(nowMs - unansweredMs!).toBeLessThan(60_000);
  });

  it('records nothing of a vCon that is in Redis again, also when it comes back during the look', async () => {
    const [back, returning] = [randomUUID(), randomUUID()];
    await redis.set(`vcon:${back}`, '{}');
    await ask('deleted', back);
    drive([{ look: 1 }], {});
    expect([await recorded(), await outcome('in_redis')]).toEqual([[], 1]);
    await ask('deleted', returning);
    const [looking] = [startWheel([{ look: 1 }], ownRedisUrl('plugin'), config({ slow: rows({ slow: 1 }) }))];
    await eventually(async () => Number(await redis.zscore(`${stream}:look`, `deleted:${returning}`)) > 1);
    await redis.set(`vcon:${returning}`, '{}');
    await looking.done;
    expect([await recorded(), await outcome('in_redis')]).toEqual([[], 2]);
    await redis.del(`vcon:${back}`, `vcon:${returning}`);
  });

  it('records each end once while two workers of a conserver look at once', async () => {
    const uuids = Array.from({ length: 30 }, () => randomUUID());
    for (const uuid of uuids) await ask('expired', uuid);
    const workers = [1, 2].map(() =>
      startWheel([{ work: 4 }], ownRedisUrl('plugin'), config({ mine: files(), postgres: rows() })),
    );
    await eventually(async () => (await recorded()).length >= uuids.length);
    await Promise.all(workers.map(({ done }) => done));
    expect((await recorded()).map(({ key }) => key).sort()).toEqual([...uuids].sort());
    expect(isLooking(await readLooker(redis, stream))).toBe(true);
  });

  it('loses nothing when a worker is killed during a look: another takes over, and a late finding counts for nothing', async () => {
    const uuid = randomUUID();
    await ask('deleted', uuid);
    const begin = async () => {
      const worker = startWheel([{ look: 1 }], ownRedisUrl('plugin'), config({ slow: rows({ slow: 3 }) }));
      await eventually(async () => Number(await redis.zscore(`${stream}:look`, `deleted:${uuid}`)) > 1);
      return worker;
    };
    const killed = await begin();
    killed.kill();
    await killed.done;
    await pass();
    const late = await begin();
    await pass();
    drive([{ look: 1 }], { postgres: rows() });
    await late.done;
    expect((await recorded()).map(({ storages }) => storages)).toEqual(['{"postgres": "gone"}']);
    expect(readdirSync(join(folder, 'rows'))).toEqual([]);
  });

  it('looks again when a new reason comes during a look', async () => {
    const uuid = randomUUID();
    await ask('deleted', uuid);
    const looking = startWheel([{ look: 1 }], ownRedisUrl('plugin'), config({ slow: rows({ slow: 2 }) }));
    await eventually(async () => Number(await redis.zscore(`${stream}:look`, `deleted:${uuid}`)) > 1);
    await askToLook(redis, stream, 'deleted', uuid);
    await looking.done;
    expect([await recorded(), await waitingFor()]).toEqual([[], [`deleted:${uuid}`]]);
  });

  it('never fails the conserver’s API: a hook without its Redis only writes to the log', () => {
    const { results } = driveWheel([{ hook: randomUUID() }], 'redis://127.0.0.1:1', config({}));
    expect(results[0]!.raised).toBeUndefined();
  });
});
