import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { archivistClients } from '../../plugins/archivist-client/archivist-clients.js';
import { createOperationMetrics } from '../../plugins/capture/capture-metrics.js';
import { startDelivery } from '../../plugins/delivery/delivery-worker.js';
import { createCaptureSequence } from '../../plugins/operation/capture-sequence.js';
import { operationEvent } from '../../plugins/operation/operation-event.js';
import { OPERATION_QUEUE, operationJobId } from '../../plugins/operation/operation-job.js';
import { systemClock } from '../../src/platform/clock.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { rounded } from './statistics.js';

const OPERATIONS = ['vcon_created', 'vcon_enhanced', 'vcon_sent', 'vcon_received'];
/** A queue gives up a command that takes long, as a receiver needs it to. */
const ADDED = 50;
const observe = createCaptureSequence(systemClock);

async function fill(backend: QueueBackend, vcons: number): Promise<number> {
  const jobs = Array.from({ length: vcons }, () => randomUUID()).flatMap((uuid) =>
    OPERATIONS.map((name) => {
      const vcon = { payload: randomUUID().replaceAll('-', '').repeat(2), uuid, form: 'unsigned' } as const;
      const event = operationEvent({ name }, vcon, { method: 'receiver', observed: observe() });
      return { name, data: event, opts: { jobId: operationJobId({ name }, event), attempts: 1_000 } };
    }),
  );
  for (let from = 0; from < jobs.length; from += ADDED) {
    await backend.queue(OPERATION_QUEUE).addBulk(jobs.slice(from, from + ADDED));
  }
  return jobs.length;
}

/** Events per second from a full queue to the service, of vCons with four operations each. */
export async function measureDelivery(
  backend: QueueBackend,
  service: { readonly url: string; readonly clientId: string; readonly clientSecret: string },
  vcons: number,
  bulk: boolean,
): Promise<number> {
  const queue = backend.queue(OPERATION_QUEUE);
  const jobs = await fill(backend, vcons);
  const { url: archivistUrl, clientId, clientSecret } = service;
  const clients = archivistClients({ archivistUrl, clientId, clientSecret, bulk }, new Map(), systemClock);
  const metrics = createOperationMetrics(new Registry());
  const logger = pino({ level: 'silent' });
  const begun = performance.now();
  const delivery = startDelivery({
    backend,
    clients,
    metrics,
    logger,
    random: Math.random,
    clockIsWrong: () => false,
    bulk,
  });
  const completed = async () =>
    (await queue.getJobCounts('completed').catch(() => ({ completed: 0 })))['completed'] ?? 0;
  while ((await completed()) < jobs) await wait(50);
  const seconds = (performance.now() - begun) / 1000;
  await delivery.close();
  await queue.obliterate({ force: true, count: ADDED });
  return rounded(jobs / seconds);
}
