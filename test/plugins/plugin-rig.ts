import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { RetryPace } from '../../plugins/archivist-client/retry-delay.js';
import type { Captured } from '../../plugins/capture/capture-operation.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import type { BodyLimits } from '../../plugins/receiver/read-body.js';
import type { PluginSettings } from '../../plugins/settings/plugin-settings.js';
import { type ConserverLink, startConserverLink } from '../../plugins/start/start-conserver-link.js';
import type { DiskWatch } from '../../src/platform/disk/disk-watch.js';
import { openEmbedded } from '../../src/platform/postgres/open-embedded.js';
import { openRedisQueues, postgresQueues } from '../../src/platform/queue/open-queue-backend.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { embeddedDataDir } from '../support/engines.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';
import { type ScriptedArchivist, startScriptedArchivist } from './scripted-archivist.js';

/** The embedded engine always, Redis where the environment names one. */
export const ENGINES: readonly ('embedded' | 'Redis')[] = redisUrl ? ['embedded', 'Redis'] : ['embedded'];

export const silent = pino({ level: 'silent' });

export interface OpenBackend {
  readonly backend: QueueBackend;
  /** For whatever else the plugin keeps; goes with the backend. */
  readonly folder: string;
  /** Forgets all jobs. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

export async function openBackend(engine: (typeof ENGINES)[number]): Promise<OpenBackend> {
  const folder = await embeddedDataDir();
  const database = engine === 'embedded' ? await openEmbedded(join(folder, 'embedded')) : undefined;
  const backend = database ? postgresQueues(database, silent) : await openRedisQueues(ownRedisUrl('plugin'), silent);
  const empty = () => backend.queue(OPERATION_QUEUE).obliterate({ force: true });
  // Another test file may have left its jobs in the same Redis.
  await empty();
  return {
    backend,
    folder,
    empty,
    async close() {
      await empty();
      await backend.close();
      await database?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Rig extends ConserverLink {
  readonly archivist: ScriptedArchivist;
  readonly registry: Registry;
  post(target: string, body: Uint8Array | string, headers?: Record<string, string>): Promise<Response>;
}

/** The plugin on a queue, in front of a scripted service. */
export async function startRig(
  backend: QueueBackend,
  changed: {
    settings?: Partial<PluginSettings>;
    keeps?: { dataDir: string; redisUrl: string | undefined };
    bodyLimits?: BodyLimits;
    pace?: RetryPace;
    clockIsWrong?: () => boolean;
    disk?: DiskWatch;
  } = {},
): Promise<Rig> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plugin-keeps-'));
  const archivist = await startScriptedArchivist();
  const registry = new Registry();
  const link = await startConserverLink({
    disk: changed.disk ?? unwatchedDisk(),
    settings: {
      archivistUrl: archivist.url,
      clientId: 'client',
      clientSecret: 'client-secret',
      host: '127.0.0.1',
      port: 0,
      ...changed.settings,
    },
    keeps: changed.keeps ?? { dataDir, redisUrl: backend.engine === 'Redis' ? ownRedisUrl('plugin') : undefined },
    backend,
    logger: silent,
    clock: { now: () => Date.now() },
    registry,
    pace: changed.pace ?? { firstMs: 20, mostMs: 100 },
    ...(changed.bodyLimits ? { bodyLimits: changed.bodyLimits } : {}),
    ...(changed.clockIsWrong ? { clockIsWrong: changed.clockIsWrong } : {}),
  });
  return {
    url: link.url,
    archivist,
    registry,
    post: (target, body, headers = {}) =>
      fetch(link.url + target, { method: 'POST', body: body as string, headers, signal: AbortSignal.timeout(30_000) }),
    async close() {
      await link.close();
      await archivist.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A vCon of its own each time. */
export function freshVcon(members: Record<string, unknown> = {}): string {
  const base = { uuid: randomUUID(), created_at: '2026-11-20T10:00:00+00:00', parties: [], dialog: [] };
  return JSON.stringify({ ...base, analysis: [], attachments: [], ...members });
}

/** A vCon of 20 MB on a machine with little time for it. */
const KEPT_WITHIN_MS = 150_000;

/**
 * Reports an operation until it is kept: on a slow machine the plugin refuses what it cannot keep within two seconds, and
 * to report it again makes nothing twice.
 */
export async function report(
  target: string,
  body: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<Captured> {
  let captured: Captured | undefined;
  await eventually(async () => {
    const answer = await fetch(target, { method: 'POST', body: body as string, headers }).catch(() => undefined);
    captured = answer?.status === 202 ? ((await answer.json()) as Captured) : undefined;
    return captured !== undefined;
  }, KEPT_WITHIN_MS);
  return captured!;
}

/** Waits until it holds. */
export async function eventually(holds: () => Promise<boolean> | boolean, withinMs = 30_000): Promise<void> {
  for (const until = Date.now() + withinMs; !(await holds()); ) {
    if (Date.now() > until) throw new Error('it did not come about in time');
    await new Promise((wake) => setTimeout(wake, 20));
  }
}
