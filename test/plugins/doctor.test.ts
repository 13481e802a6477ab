import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { examineConserverRedis } from '../../plugins/operator/examine-redis.js';
import { examineService } from '../../plugins/operator/examine-service.js';
import type { Finding } from '../../plugins/operator/finding.js';
import { inspectRedis } from '../../plugins/operator/inspected-redis.js';
import { openOperatorQueue } from '../../src/cli/plugin/open-operator-queue.js';
import { redisCommand } from '../faults/private-servers.js';
import { killBuilt, startBuilt } from '../support/built-program.js';
import { commandLine } from '../support/command-line.js';
import { embeddedDataDir, engines } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { redisServerPath } from '../support/prerequisites.js';
import { eventually, silent } from './plugin-rig.js';
import { type ScriptedArchivist, startScriptedArchivist } from './scripted-archivist.js';

const SECRETS = ['client-secret-of-the-test', 'redis-password-of-the-test', 'token-1'];
const CLIENT = { ARCHIVIST_CLIENT_ID: '3f1c7a52-0d1e-4f0a-9a52-6d1e2f3a4b5c', ARCHIVIST_CLIENT_SECRET: SECRETS[0]! };

const PLACES = ['REDIS_URL', 'DATABASE_URL', 'DATA_DIR', 'ARCHIVIST_URL', 'CONSERVER_REDIS_URL', 'PORT', 'PLUGIN_PORT'];

function environment(variables: Readonly<Record<string, string | undefined>>): void {
  for (const name of [...PLACES, ...Object.keys(CLIENT)]) vi.stubEnv(name, variables[name]);
}

interface Diagnosis {
  readonly state: string;
  readonly exitCode: number;
  readonly findings: readonly Finding[];
  of(check: string): string | undefined;
}

async function run(...args: string[]): Promise<{ out: string; exitCode: number }> {
  const { said, exitCode } = await commandLine(['doctor', ...args]);
  for (const secret of SECRETS) expect(said).not.toContain(secret);
  return { out: said, exitCode };
}

async function diagnose(...args: string[]): Promise<Diagnosis> {
  const { out, exitCode } = await run('--json', ...args);
  const { state, findings } = JSON.parse(out) as { state: string; findings: Finding[] };
  return { state, exitCode, findings, of: (check) => findings.find((finding) => finding.check === check)?.state };
}

afterAll(killBuilt);

let archivist: ScriptedArchivist;
beforeEach(async () => {
  archivist = await startScriptedArchivist();
  archivist.always('event', { status: 404 });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await archivist.close();
});

describe.skipIf(!redisServerPath)('doctor on a Redis of its own', () => {
  let folder: string;
  let server: ChildProcess | undefined;
  let url: string;

  async function start(...settings: string[]): Promise<void> {
    const port = String(await freePort());
    const own = ['--bind', '127.0.0.1', '--port', port, '--dir', folder, '--save', ''];
    server = spawn(redisServerPath!, [...own, '--requirepass', SECRETS[1]!, ...settings], { stdio: 'ignore' });
    url = `redis://:${SECRETS[1]}@127.0.0.1:${port}`;
    await eventually(() =>
      inspectRedis(url, ['GET']).then(
        () => true,
        () => false,
      ),
    );
    environment({ ...CLIENT, REDIS_URL: url, ARCHIVIST_URL: archivist.url });
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  });
  afterEach(async () => {
    if (server) {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
      server = undefined;
    }
    await rm(folder, { recursive: true });
  });

  it('exits 0 when all is well, with one line a check', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always');
    const { out, exitCode } = await run();
    expect(exitCode, out).toBe(0);
    expect(out.split('\n').filter((line) => line.startsWith('ok'))).toHaveLength(13);
    expect(archivist.seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
  });

  it('calls a Redis without an append-only file broken in one line, and says what to set', async () => {
    await start('--appendonly', 'no');
    const diagnosis = await diagnose();
    expect(diagnosis.exitCode).toBe(2);
    const faults = diagnosis.findings.filter(({ state }) => state === 'broken');
    expect(faults.map(({ check }) => check)).toEqual(['redis append-only file']);
    expect((await run()).out).toContain('→ set appendonly yes');
  });

  it('wants noeviction, the more so under a memory limit', async () => {
    const keeps = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'allkeys-lru'];
    await start(...keeps);
    expect(await diagnose()).toMatchObject({ exitCode: 1, state: 'change' });
    server!.kill('SIGKILL');
    await once(server!, 'exit');
    await start(...keeps, '--maxmemory', '100mb');
    expect((await diagnose()).of('redis eviction policy')).toBe('broken');
  });

  it('tells when the memory of Redis is nearly used up, and when the conserver’s Redis may drop the stream', async () => {
    const keeps = ['--appendonly', 'yes', '--appendfsync', 'always'];
    await start(...keeps, '--maxmemory', '100mb');
    expect((await diagnose()).of('redis memory')).toBeUndefined();
    await redisCommand(url, (redis) => redis.config('SET', 'maxmemory', '1000000'));
    expect((await diagnose()).of('redis memory')).toBe('change');
    await redisCommand(url, (redis) => redis.config('SET', 'maxmemory', '100mb'));
    vi.stubEnv('CONSERVER_REDIS_URL', url);
    expect((await diagnose()).of('conserver redis eviction policy')).toBeUndefined();
    await redisCommand(url, (redis) => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    expect((await diagnose()).of('conserver redis eviction policy')).toBe('change');
  });

  it('tells which conservers can store vCons in a Redis without JSON commands, and that the queue shares it', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always');
    const { findings, exitCode } = await diagnose('--conserver-redis', url);
    const found = findings.filter(({ check }) => check === 'conserver redis');
    const known = await inspectRedis(url, ['GET', 'JSON.SET']);
    expect(known.unknownCommands).toEqual(expect.not.arrayContaining(['GET']));
    expect(found.map(({ state }) => state)).toEqual(['ok', 'change']);
    expect(found[0]!.found.includes('before September 2026')).toBe(known.unknownCommands.length > 0);
    expect(exitCode).toBe(1);
  });

  it('does not take two servers for one because neither reveals its id', async () => {
    await start('--appendonly', 'yes');
    const proxy = createServer((client) => {
      const redis = connect(Number(new URL(url).port), '127.0.0.1');
      client.pipe(redis);
      redis.on('data', (chunk) => client.write(chunk.toString('latin1').replace('run_id:', 'hidden:'), 'latin1'));
      for (const end of [client, redis]) end.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const hiding = new URL(url);
    hiding.port = String((proxy.address() as AddressInfo).port);
    const findings = await examineConserverRedis(hiding.href, hiding.href);
    proxy.close();
    expect(findings).toMatchObject([{ check: 'conserver redis', state: 'ok' }]);
  });

  it('asks for one method for each operation until a day after two methods captured one, and shows when that was', async () => {
    await start('--appendonly', 'yes', '--appendfsync', 'always');
    const doubles = async (hoursAgo: number) => {
      const at = new Date(Date.now() - hoursAgo * 3_600_000).toISOString();
      await redisCommand(url, (redis) =>
        redis.hset('{vcon-archivist}:plugin:doubles:vcon_sent', 'link and receiver', at),
      );
      const { findings } = await diagnose();
      const { state, found } = findings.find(({ check }) => check === 'doubles')!;
      expect(found).toContain(`vcon_sent by link and receiver, the last at ${at}`);
      return state;
    };
    expect([await doubles(23), await doubles(25)]).toEqual(['change', 'ok']);
  });

  it('gives one line for a Redis that does not answer', async () => {
    environment({ ...CLIENT, REDIS_URL: 'redis://127.0.0.1:1', CONSERVER_REDIS_URL: 'redis://127.0.0.1:1' });
    const faults = (await diagnose()).findings.filter(({ state }) => state !== 'ok');
    expect(faults.map(({ check }) => check)).toEqual(['redis', 'conserver redis', 'service']);
  });

  it('refuses another kind of URL for the conserver’s Redis, and does not repeat it', async () => {
    await start('--appendonly', 'yes');
    expect(await run('--conserver-redis', `http://x:${SECRETS[1]}@y`)).toMatchObject({ exitCode: 2 });
  });
});

describe.each(engines())('doctor, queue on %s', (engine) => {
  it('exits 0 when all is well, and 2 when nobody answers at ARCHIVIST_URL', async () => {
    const opened = await engine.open();
    if (engine.name === 'embedded PostgreSQL') await opened.database.close();
    environment({ ...opened.environment, ...CLIENT, ARCHIVIST_URL: archivist.url });
    const well = await diagnose();
    expect(well, JSON.stringify(well.findings)).toMatchObject({ exitCode: 0, state: 'ok' });
    environment({ ...opened.environment, ...CLIENT, ARCHIVIST_URL: 'http://127.0.0.1:1' });
    const away = await diagnose();
    expect([away.exitCode, away.of('service'), away.of('queue')]).toEqual([2, 'broken', 'ok']);
    await opened.close();
  });
});

describe('what is found of the service', () => {
  const clock = { now: () => Date.now() };
  async function found(clientSecret = SECRETS[0]!): Promise<Record<string, string>> {
    const findings = await examineService({ url: archivist.url, clientId: 'client', clientSecret }, clock);
    for (const secret of SECRETS) expect(JSON.stringify(findings)).not.toContain(secret);
    return Object.fromEntries(findings.map(({ check, state }) => [check, state]));
  }

  it.each([
    ['credentials that it refuses', { status: 401, body: { error: SECRETS[0] } }],
    ['an answer that is no token', { status: 200, body: SECRETS[0] }],
  ])('%s', async (_title, fault) => {
    archivist.script('token', fault);
    expect(await found()).toEqual({ token: 'broken', clock: 'ok' });
  });

  it.each([
    [401, 'ARCHIVIST_CLIENT_SECRET'],
    [404, 'ARCHIVIST_URL'],
    [503, 'the service’s log'],
  ])('credentials that it answers with %d lead the operator to %s', async (status, place) => {
    archivist.script('token', { status });
    const [token] = await examineService({ url: archivist.url, clientId: 'client', clientSecret: 'x' }, clock);
    expect(token).toMatchObject({ check: 'token', state: 'broken', change: expect.stringContaining(place) });
  });

  it.each([401, 403, 404, 500])('a read that it answers with %d', async (status) => {
    archivist.script('asset look-up', { status, body: { error: SECRETS[0] } });
    expect(await found()).toEqual({ token: 'ok', 'dry run': 'broken', 'dry-run event': 'ok', clock: 'ok' });
  });

  it.each([
    [402, 'change'],
    [403, 'broken'],
    [400, 'broken'],
    [200, 'broken'],
  ])('an event on no asset that it answers with %d', async (status, state) => {
    archivist.always('event', { status, body: { error: SECRETS[0] } });
    expect(await found()).toEqual({ token: 'ok', 'dry run': 'ok', 'dry-run event': state, clock: 'ok' });
  });

  it.each([
    [-3_600_000, 'broken'],
    [-20_000, 'change'],
    [0, 'ok'],
    [20_000, 'change'],
    [3_600_000, 'broken'],
  ])('a clock that is %d ms apart', async (offMs, state) => {
    const date = new Date(Date.now() + offMs).toUTCString();
    archivist.script('token', { status: 200, headers: { date }, body: { access_token: SECRETS[2] } });
    expect((await found())['clock']).toBe(state);
  });

  it('warns thirty days before the client secret expires', async () => {
    const inDays = (days: number) => Math.floor(Date.now() / 1000) + days * 86_400;
    const tokenWith = (expires: number) =>
      archivist.script('token', { status: 200, body: { access_token: SECRETS[2], client_secret_expires_at: expires } });
    tokenWith(inDays(29));
    expect((await found())['token']).toBe('change');
    tokenWith(inDays(31));
    expect((await found())['token']).toBe('ok');
  });

  it('an answer that is no JSON, which it does not quote', async () => {
    const server = createHttpServer((_request, response) => response.end(SECRETS[2])).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const findings = await examineService({ url, clientId: 'client', clientSecret: SECRETS[0]! }, clock);
    server.close();
    expect(findings[0]).toMatchObject({ check: 'token', state: 'broken' });
    expect(JSON.stringify(findings)).not.toContain(SECRETS[2]);
  });

  it('a plugin without credentials', async () => {
    expect(await found('')).toEqual({ token: 'change', clock: 'ok' });
    expect(archivist.seenAt('token')).toEqual([]);
  });
});

it('says that all is well with a default installation, from the metrics of the running plugin', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  const [PORT, PLUGIN_PORT] = [String(await freePort()), String(await freePort())];
  const installation = { DATA_DIR: join(folder, 'data'), PORT, PLUGIN_PORT };
  const service = startBuilt('main', installation);
  try {
    await service.says(/Stop with/);
    const doctor = startBuilt('cli/vcon-archivist', installation, ['doctor']);
    expect(await doctor.ended, doctor.written.out).toBe(0);
    const lines = doctor.written.out.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('All is well.');
    expect(lines.slice(0, -2).filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines[0]).toContain(`0 waiting for delivery, as http://127.0.0.1:${PLUGIN_PORT}/metrics shows`);
  } finally {
    service.signal('SIGTERM');
    await service.ended;
    await rm(folder, { recursive: true });
  }
}, 120_000);

it('gives one line for a service that was never started, with the address that follows PORT', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  environment({ DATA_DIR: folder, PORT: '1' });
  const faults = (await diagnose()).findings.filter(({ state }) => state !== 'ok');
  await rm(folder, { recursive: true });
  expect(faults).toMatchObject([{ check: 'service', found: expect.stringContaining('http://127.0.0.1:1:') }]);
});

it('says that an embedded queue was not examined if it is in use and no plugin shows metrics', async () => {
  const dataDir = await embeddedDataDir();
  environment({ ...CLIENT, DATA_DIR: dataDir, ARCHIVIST_URL: archivist.url, PLUGIN_PORT: '1' });
  const queue = await openOperatorQueue({ redisUrl: undefined, databaseUrl: undefined, dataDir }, silent);
  const { exitCode, findings } = await diagnose();
  await queue.close();
  await rm(dataDir, { recursive: true });
  expect(exitCode).toBe(1);
  expect(findings.find(({ check }) => check === 'queue')?.found).toMatch(/^not examined: the embedded queue/);
});
