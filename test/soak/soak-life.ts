import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeployment, type Deployment, type EngineName, type RunningProcess } from '../faults/deployment.js';
import { Follower } from '../faults/follower.js';
import { Journal } from '../faults/journal.js';
import { type PrivateServer, postgresPrograms, privatePostgres, privateRedis } from '../faults/private-servers.js';
import type { ServiceProcess } from '../faults/service-process.js';
import { freePort } from '../support/free-port.js';
import { MixedLoad, type Places } from './mixed-load.js';
import type { ProcessFigures } from './process-figures.js';

/** What one database of a soak consists of. */
export interface Life {
  readonly deployment: Deployment;
  readonly journal: Journal;
  readonly load: MixedLoad;
  readonly follower: Follower;
  readonly servers: { readonly postgres?: PrivateServer; readonly redis?: PrivateServer };
  /** Where every process of it listens. */
  readonly places: Places;
  /** Taken after each start. */
  readonly starts: ProcessFigures[];
  spawn(): ServiceProcess;
  start(): Promise<RunningProcess>;
  close(): Promise<void>;
}

/** PostgreSQL and Redis that only this life uses, so that it may crash them. */
async function privateServers(folder: string): Promise<Life['servers']> {
  const [postgres, redis] = await Promise.all([
    privatePostgres(postgresPrograms()!, join(folder, 'postgres')),
    privateRedis(join(folder, 'redis')),
  ]);
  return { postgres, redis };
}

/** Makes an empty database and the clients that will remember what it acknowledges. */
export async function beginLife(engine: EngineName): Promise<Life> {
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  // The user that runs PostgreSQL must enter it.
  await chmod(folder, 0o755);
  const servers = engine === 'embedded' ? {} : await privateServers(folder);
  const deployment = await createDeployment(engine, servers.postgres?.url);
  const [port, pluginPort] = [await freePort(), await freePort()];
  const environment = {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    PLUGIN_PORT: String(pluginPort),
    LOG_LEVEL: 'warn',
    ...(servers.redis ? { REDIS_URL: servers.redis.url } : {}),
  };
  const close = async () => {
    await deployment.close();
    await Promise.all([servers.postgres?.close(), servers.redis?.close()]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const first = await deployment.start(environment);
    const journal = await Journal.begin(first.url);
    await first.stop();
    return {
      deployment,
      journal,
      load: new MixedLoad(journal),
      follower: new Follower(deployment, journal, 'at least'),
      servers,
      places: { url: first.url, plugin: `http://127.0.0.1:${pluginPort}` },
      starts: [],
      spawn: () => deployment.spawn(environment),
      start: () => deployment.start(environment),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
