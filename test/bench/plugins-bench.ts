import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { openEmbedded } from '../../src/platform/postgres/open-embedded.js';
import { openRedisQueues, postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { freePort } from '../support/free-port.js';
import { startProgram } from './child-process.js';
import { embeddedEngine, postgresqlEngine } from './engines.js';
import { measureLarge, measurePosts, measureWheel } from './plugin-captures.js';
import { measureDelivery } from './plugin-delivery.js';
import { median } from './statistics.js';

const VCONS = 500;
const DELIVERED_VCONS = 150;
const ROUNDS = 3;
const PROGRAM = new URL('./plugin-program.js', import.meta.url);
const PLAIN = new URL('./plain-http-server.js', import.meta.url);
const SERVICE = new URL('../../src/main.js', import.meta.url);

const say = (line: string): void => void process.stderr.write(`${line}\n`);
/** The youngest first, whatever happens. */
const closers: (() => Promise<unknown>)[] = [];
const server = process.env['BENCH_DATABASE_URL'] || process.env['TEST_DATABASE_URL'];
const redis = process.env['BENCH_REDIS_URL'] || process.env['TEST_REDIS_URL'];

/** A numbered database of the Redis for each use: they are emptied. */
async function ownRedis(database: number): Promise<string> {
  const url = new URL(redis!);
  url.pathname = `/${database}`;
  const client = new Redis(url.href);
  await client.flushdb();
  client.disconnect();
  return url.href;
}

async function startProcess(program: URL, environment: Record<string, string>): Promise<string> {
  const started = await startProgram(program, environment);
  closers.push(() => started.stop());
  return started.url;
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'plugins-bench-'));
  closers.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function captures() {
  const path = '/chains/main/links/bench/operations/vcon_created';
  const plain = await startProcess(PLAIN, {});
  const embedded = await startProcess(PROGRAM, { DATA_DIR: await folder() });
  const onRedis = redis
    ? {
        'receiver, queue on Redis': `${await startProcess(PROGRAM, { REDIS_URL: await ownRedis(14), DATA_DIR: await folder() })}${path}`,
      }
    : {};
  say('time of a vCon by each plugin, beside a plain post');
  const posts = await measurePosts(
    { 'plain HTTP post': `${plain}/`, 'receiver, embedded queue': embedded + path, ...onRedis },
    VCONS,
  );
  const wheel = redis ? measureWheel(await ownRedis(15), VCONS) : { notRun: 'there is no Redis: BENCH_REDIS_URL' };
  say('large vCons');
  return { posts, wheel, large: await measureLarge(embedded + path) };
}

async function delivery() {
  const engine = server ? await postgresqlEngine(server, undefined) : await embeddedEngine();
  closers.push(() => engine.remove());
  const port = String(await freePort());
  const url = await startProcess(SERVICE, { ...engine.environment, PORT: port, PLUGIN_PORT: '0', LOG_LEVEL: 'error' });
  const { client_id: clientId, client_secret: clientSecret } = (await readCredentials(
    engine.environment['DATA_DIR']!,
  ))!;
  const logger = pino({ level: 'silent' });
  const database = redis ? undefined : await openEmbedded(join(await folder(), 'embedded'));
  const backend = database ? postgresQueues(database, logger) : await openRedisQueues(await ownRedis(13), logger);
  closers.push(async () => {
    await backend.close();
    await database?.close();
  });
  const rates: Record<'on' | 'off', number[]> = { on: [], off: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const bulk of ['off', 'on'] as const) {
      say(`delivery, bulk ${bulk}`);
      const service = { url, clientId, clientSecret };
      rates[bulk].push(await measureDelivery(backend, service, DELIVERED_VCONS, bulk === 'on'));
    }
  }
  return {
    service: engine.description,
    queue: backend.engine,
    bulkOff: { median: median(rates.off), rounds: rates.off, unit: 'events/s' },
    bulkOn: { median: median(rates.on), rounds: rates.on, unit: 'events/s' },
  };
}

/** JSON alone on standard output, progress beside it. */
async function main(): Promise<void> {
  try {
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
    const measured = await captures();
    // What is measured is not lost with what cannot be.
    const delivered = await delivery().catch((error: Error) => ({ notMeasured: error.message }));
    process.stdout.write(`${JSON.stringify({ machine, captures: measured, delivery: delivered }, null, 2)}\n`);
  } finally {
    for (let close = closers.pop(); close; close = closers.pop()) await close().catch(() => undefined);
  }
}

await main();
