import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { freePort } from '../support/free-port.js';
import { until } from './journal.js';

/** A server that a test has alone and may kill. */
export interface PrivateServer {
  readonly url: string;
  /** Ends it at once, without a checkpoint or a save, and starts it on the same data. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

function runs(command: string): boolean {
  return spawnSync(command, ['--version']).status === 0;
}

/** Where PostgreSQL's own programs are; undefined without them. */
export function postgresPrograms(): string | undefined {
  const named = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const folders = [
    ...(named.status === 0 ? [named.stdout.trim()] : []),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => runs(join(folder, 'initdb')) && runs(join(folder, 'postgres')));
}

export const hasRedis = (): boolean => runs('redis-server');

/** PostgreSQL does not run as root; its package's user does it then. */
function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function privateServer(
  url: string,
  run: () => ChildProcess,
  fatal: NodeJS.Signals,
  answers: () => Promise<unknown>,
) {
  let child = run();
  const orphan = () => child.kill('SIGKILL');
  process.once('exit', orphan);
  const ready = () =>
    until(
      () =>
        answers().then(
          () => true,
          () => false,
        ),
      (answered) => answered,
    );
  const end = async () => {
    const closed = new Promise((resolve) => child.once('exit', resolve));
    child.kill(fatal);
    await closed;
  };
  await ready();
  return {
    url,
    async crash() {
      await end();
      child = run();
      await ready();
    },
    async close() {
      await end();
      process.off('exit', orphan);
    },
  };
}

/**
 * @param folder to make, in one that its user may enter
 * @param log where the server keeps its write-ahead log, when not in that folder
 */
export async function privatePostgres(programs: string, folder: string, log?: string): Promise<PrivateServer> {
  const user = serverUser();
  mkdirSync(folder, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid!);
  const options = { ...user, cwd: folder, stdio: 'ignore' } as const;
  execFileSync(
    join(programs, 'initdb'),
    ['-D', folder, '-U', 'postgres', '-A', 'trust', '--no-sync', ...(log ? ['-X', log] : [])],
    options,
  );
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`];
  const run = () => spawn(join(programs, 'postgres'), ['-D', folder, '-p', String(port), ...settings], options);
  // SIGQUIT is the server's immediate shutdown: its next start recovers as from a crash.
  return privateServer(url, run, 'SIGQUIT', async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.end();
  });
}

export async function privateRedis(folder: string): Promise<PrivateServer> {
  mkdirSync(folder);
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes'];
  const run = () => spawn('redis-server', settings, { stdio: 'ignore' });
  return privateServer(url, run, 'SIGKILL', () => redisCommand(url, (redis) => redis.ping()));
}

export async function redisCommand<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null, lazyConnect: true });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
