import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeployment, type Deployment } from './deployment.js';
import { Follower } from './follower.js';
import { Journal } from './journal.js';
import {
  hasRedis,
  type PrivateServer,
  postgresPrograms,
  privatePostgres,
  privateRedis,
  redisCommand,
} from './private-servers.js';

const PROGRAMS = postgresPrograms();
const ROUNDS = 3;

describe.skipIf(!PROGRAMS || !hasRedis())('below the service', () => {
  let folder: string;
  let postgres: PrivateServer;
  let redis: PrivateServer;
  let deployment: Deployment;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faults-servers-'));
    await chmod(folder, 0o755);
    postgres = await privatePostgres(PROGRAMS!, join(folder, 'postgres'));
    redis = await privateRedis(join(folder, 'redis'));
    deployment = await createDeployment('PostgreSQL', postgres.url);
  });
  afterAll(async () => {
    await deployment?.close();
    await redis?.close();
    await postgres?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('PostgreSQL and Redis crash, and Redis forgets everything, under a stream of creates: no acknowledged event is lost or doubled', async () => {
    const service = await deployment.start({ REDIS_URL: redis.url });
    const journal = await Journal.begin(service.url);
    const follower = new Follower(deployment, journal);
    const faults = [
      () => postgres.crash(),
      () => redis.crash(),
      () => redisCommand(redis.url, (client) => client.flushall()),
    ];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const fault of faults) {
        let over = false;
        // Unlike a client of a dead service, this one goes on: answers of 5xx are part of the fault.
        const streaming = (async () => {
          while (!over) if (!(await journal.send(service.url))) await wait(20);
        })();
        await wait(150);
        await fault();
        await wait(150);
        over = true;
        await streaming;
      }
      await journal.sendAgain(service.url);
      await follower.audit(service.url);
    }
    await service.stop();
  }, 180_000);

  it('a service role that row-level security does not bind is refused at the start', async () => {
    const administer = async (sql: string) => {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    };
    for (const [right, without] of [
      ['SUPERUSER', 'NOSUPERUSER'],
      ['BYPASSRLS', 'NOBYPASSRLS'],
    ]) {
      await administer(`ALTER ROLE vcon_archivist_service ${right}`);
      const refused = deployment.spawn();
      expect([right, await refused.ended]).toEqual([right, 1]);
      expect(refused.output()).toContain('bypasses row-level security: the service does not start');
      await administer(`ALTER ROLE vcon_archivist_service ${without}`);
    }
    const accepted = await deployment.start();
    await accepted.stop();
  });
});
