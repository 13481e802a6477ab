import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeployment, type Deployment } from './deployment.js';
import { Follower } from './follower.js';
import { Journal, until } from './journal.js';
import { type PrivateServer, postgresPrograms, privatePostgres } from './private-servers.js';

const PROGRAMS = postgresPrograms();
/** One private log, one public one, and the statement log of each. */
const LOGS = 4;

describe.skipIf(!PROGRAMS)('a standby that lacks the last commits', () => {
  let folder: string;
  let postgres: PrivateServer;
  let deployment: Deployment;
  let database: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faults-standby-'));
    await chmod(folder, 0o755);
    postgres = await privatePostgres(PROGRAMS!, join(folder, 'postgres'));
    deployment = await createDeployment('PostgreSQL', postgres.url);
    database = new URL(postgres.url).pathname.slice(1);
  });
  afterAll(async () => {
    await deployment?.close();
    await postgres?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs statements while nobody is connected to the database. */
  async function administer(...statements: readonly string[]): Promise<void> {
    const url = Object.assign(new URL(postgres.url), { pathname: '/template1' }).href;
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await admin.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [database]);
    for (const each of statements) await admin.query(each);
    await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await admin.end();
  }

  it('halts every log within seconds of its promotion, though nothing is written, and nothing more is signed', async () => {
    const service = await deployment.start({ REDIS_URL: '' });
    const journal = await Journal.begin(service.url);
    const follower = new Follower(deployment, journal);
    const readiness = () => journal.get(service.url, '/readyz');
    await journal.sendMany(service.url, 6);
    await follower.audit(service.url);
    await administer(`CREATE DATABASE standby TEMPLATE ${database}`);
    await until(readiness, ({ status }) => status === 200);
    await journal.sendMany(service.url, 6);
    await follower.audit(service.url);
    const seals = await follower.auditSealObjects();

    await administer(`DROP DATABASE ${database}`, `ALTER DATABASE standby RENAME TO ${database}`);
    await postgres.crash();
    const { status, json } = await until(readiness, (answer) => {
      const halted = answer.json['halted_logs'] as unknown[] | undefined;
      return halted?.length === LOGS;
    });
    expect([status, (json['halted_logs'] as unknown[]).length]).toEqual([503, LOGS]);
    expect(await journal.send(service.url)).toBe(false);
    expect(await follower.auditSealObjects()).toBe(seals);
    await service.stop();
  }, 180_000);
});
