import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createDeployment, type Deployment, type EngineName, type RunningProcess } from '../faults/deployment.js';
import { Follower } from '../faults/follower.js';
import { Journal } from '../faults/journal.js';
import {
  hasRedis,
  type PrivateServer,
  postgresPrograms,
  privatePostgres,
  privateRedis,
} from '../faults/private-servers.js';
import { MixedLoad, type Places } from './mixed-load.js';
import { type ProcessFigures, processFigures } from './process-figures.js';
import { type EngineResults, type SoakResults, soakText } from './soak-results.js';

const HOURS = Number(process.env['SOAK_HOURS'] ?? 1);
const RESULTS = process.env['SOAK_RESULTS'] ?? 'soak-results.json';
const ONLY = process.env['SOAK_ENGINE'] ?? '';
/** Kills of one database; then everything is checked, and the next one begins empty. */
const KILLS_OF_A_DATABASE = 50;
const AUDIT_EVERY = 10;
const ROTATE_EVERY = 17;
const CRASH_EVERY = 7;
const CLIENTS = 2;
const LONGEST_MS = 1_500;
const HALF_OF_STARTS = 10;
const AGAIN = 20;
const ROLES = ['seal', 'statement_receipt', 'issuer', 'note', 'token'];
const PROGRAM = fileURLToPath(new URL('../../dist/src/cli/vcon-archivist.js', import.meta.url));

const results: SoakResults = {
  schema: 1,
  startedAt: new Date().toISOString(),
  endedAt: '',
  machine: { processors: cpus().length, memoryMiB: Math.round(totalmem() / 2 ** 20), node: process.version },
  engines: [],
};

async function write(): Promise<void> {
  results.endedAt = new Date().toISOString();
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(RESULTS.replace(/(\.json)?$/, '.txt'), `${soakText(results)}\n`);
}

/** What one database of the run consists of. */
interface Life {
  readonly deployment: Deployment;
  readonly journal: Journal;
  readonly load: MixedLoad;
  readonly follower: Follower;
  readonly servers: { readonly postgres?: PrivateServer; readonly redis?: PrivateServer };
  readonly starts: ProcessFigures[];
  start(): Promise<Running>;
  close(): Promise<void>;
}

interface Running extends Places {
  readonly process: RunningProcess;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function beginLife(engine: EngineName): Promise<Life> {
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  // The user that runs PostgreSQL must enter it.
  await chmod(folder, 0o755);
  const servers =
    engine === 'embedded'
      ? {}
      : {
          postgres: await privatePostgres(postgresPrograms()!, join(folder, 'postgres')),
          redis: await privateRedis(join(folder, 'redis')),
        };
  const deployment = await createDeployment(engine, servers.postgres?.url);
  const [port, pluginPort] = [String(await freePort()), String(await freePort())];
  const start = async (): Promise<Running> => {
    const redis = servers.redis ? { REDIS_URL: servers.redis.url } : {};
    const process = await deployment.start({
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      PLUGIN_PORT: pluginPort,
      LOG_LEVEL: 'warn',
      ...redis,
    });
    return { process, url: process.url, plugin: `http://127.0.0.1:${pluginPort}` };
  };
  const first = await start();
  const journal = await Journal.begin(first.url);
  await first.process.stop();
  return {
    deployment,
    journal,
    load: new MixedLoad(journal),
    follower: new Follower(deployment, journal, 'at least'),
    servers,
    starts: [],
    start,
    async close() {
      await deployment.close();
      await servers.postgres?.close();
      await servers.redis?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function rotate({ deployment }: Life, { url }: Running, count: number): Promise<boolean> {
  const env = { PATH: process.env['PATH'] ?? '', KEYS_DIR: join(deployment.folder, 'keys'), PUBLIC_URL: url };
  return new Promise((resolve) => {
    const args = [PROGRAM, 'keys', 'rotate', ROLES[count % ROLES.length]!, '--url', url];
    execFile(process.execPath, args, { env }, (error) => resolve(error === null));
  });
}

/** A stream of everything, then a kill at any moment of it. */
async function round(life: Life, running: Running, counts: EngineResults): Promise<void> {
  const streaming = Promise.all([life.journal.stream(running.url, CLIENTS), life.load.stream(running)]);
  streaming.catch(() => undefined);
  await wait(Math.random() * LONGEST_MS);
  const { postgres, redis } = life.servers;
  if (postgres && counts.kills % CRASH_EVERY === 3) {
    await postgres.crash();
    counts.databaseCrashes += 1;
  }
  if (redis && counts.kills % CRASH_EVERY === 5) {
    await redis.crash();
    counts.redisCrashes += 1;
  }
  if (counts.kills % ROTATE_EVERY === ROTATE_EVERY - 1 && (await rotate(life, running, counts.keyRotations)))
    counts.keyRotations += 1;
  await running.process.kill();
  counts.kills += 1;
  await streaming;
}

async function audit(life: Life, running: Running, counts: EngineResults, again?: number): Promise<void> {
  await life.deployment.expireLeases();
  await life.follower.audit(running.url, again);
  if (again === undefined) await life.load.findAll(running);
  counts.audits += 1;
}

/** One database from its first event to its last check. */
async function live(life: Life, counts: EngineResults, until: number): Promise<void> {
  let running = await life.start();
  for (let kills = 1; kills <= KILLS_OF_A_DATABASE && Date.now() < until; kills += 1) {
    await round(life, running, counts);
    running = await life.start();
    const figures = await processFigures(running.process.pid, join(life.deployment.folder, 'main'));
    life.starts.push(figures);
    await life.journal.sendAgain(running.url);
    await life.follower.everyEventOnce(running.url);
    await life.load.findSome(running);
    if (kills % AUDIT_EVERY === 0) {
      await audit(life, running, counts, AGAIN);
      process.stderr.write(`${new Date().toISOString()} ${counts.engine}: ${counts.kills} kills\n`);
    }
  }
  await audit(life, running, counts);
  await running.process.stop();
}

function median(all: readonly ProcessFigures[]): ProcessFigures {
  const of = (name: keyof ProcessFigures) => all.map((each) => each[name]).sort((a, b) => a - b)[all.length >> 1]!;
  return {
    residentMiB: of('residentMiB'),
    handles: of('handles'),
    threads: of('threads'),
    temporaryFiles: of('temporaryFiles'),
  };
}

/** A tenth more, and a little for what a measurement varies by. */
function expectFlat(first: ProcessFigures, last: ProcessFigures): void {
  for (const [name, spare] of [
    ['residentMiB', 40],
    ['handles', 8],
    ['threads', 4],
    ['temporaryFiles', 4],
  ] as const)
    expect([name, last[name], last[name] <= first[name] * 1.1 + spare]).toEqual([name, last[name], true]);
}

const runnable = (['embedded', 'PostgreSQL'] as const).filter((engine) =>
  engine === 'embedded' ? true : postgresPrograms() !== undefined && hasRedis(),
);
const chosen = runnable.filter((engine) => ONLY === '' || ONLY === engine);

describe.each(chosen)('on %s', (engine) => {
  afterAll(write);

  it(`${HOURS} hours of everything at once, killed at any moment: each acknowledged thing is there once, no proof changes, no log forks, no queue keeps anything, nothing grows`, async () => {
    const counts: EngineResults = {
      engine: engine === 'embedded' ? 'embedded' : 'PostgreSQL and Redis',
      hours: 0,
      kills: 0,
      databaseCrashes: 0,
      redisCrashes: 0,
      keyRotations: 0,
      audits: 0,
      acknowledged: {},
      firstStarts: undefined,
      lastStarts: undefined,
      failure: '',
    };
    results.engines.push(counts);
    const begun = Date.now();
    const until = begun + (HOURS * 3_600_000) / chosen.length;
    const [firstStarts, lastStarts]: ProcessFigures[][] = [[], []];
    try {
      while (Date.now() < until) {
        const life = await beginLife(engine);
        try {
          await live(life, counts, until);
        } finally {
          add(counts.acknowledged, { event: life.journal.acknowledged.length, ...life.load.counts() });
          firstStarts!.push(...life.starts.slice(0, HALF_OF_STARTS));
          if (life.starts.length >= 2 * HALF_OF_STARTS) lastStarts!.push(...life.starts.slice(-HALF_OF_STARTS));
          counts.hours = (Date.now() - begun) / 3_600_000;
          if (firstStarts!.length > 0) counts.firstStarts = median(firstStarts!);
          if (lastStarts!.length > 0) counts.lastStarts = median(lastStarts!);
          await write();
          await life.close();
        }
      }
      if (counts.firstStarts && counts.lastStarts) expectFlat(counts.firstStarts, counts.lastStarts);
    } catch (error) {
      counts.failure = error instanceof Error ? error.message.split('\n')[0]! : String(error);
      throw error;
    }
  });
});

function add(total: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [kind, count] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + count;
}
