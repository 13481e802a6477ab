import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CaptureReport } from '../../plugins/archivist-client/capture-report.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { ENGINES, eventually, freshVcon, type OpenBackend, openBackend, report, startRig } from './plugin-rig.js';

const YEARS_MS = 15 * 365.25 * 24 * 3_600_000;
/** Longer than the plugin takes to look at its clock again. */
const NOTICED_MS = 1_500;
const TARGET = '/operations/vcon_created?chain=main&link=l';

describe.each(ENGINES)('a plugin that knows its clock to be wrong, queue on %s', (engine) => {
  let open: OpenBackend;
  let offMs = 0;
  const rightNow = Date.now;
  beforeAll(async () => {
    open = await openBackend(engine);
    // The queue reads the clock of the process itself.
    vi.spyOn(Date, 'now').mockImplementation(() => rightNow() + offMs);
  });
  afterEach(async () => {
    offMs = 0;
    await open.empty();
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await open.close();
  });
  const start = (settings = {}) => startRig(open.backend, { settings, clockIsWrong: () => offMs !== 0 });

  it.each([YEARS_MS, -YEARS_MS])('puts no delivery off (%d ms), and delivers when it is right', async (wrongBy) => {
    const rig = await start();
    try {
      rig.archivist.always('event', { status: 503, body: { error: 'unavailable', description: 'x' } });
      const before = await report(rig.url + TARGET, freshVcon());
      await eventually(() => rig.archivist.seenAt('event').length > 1);
      offMs = wrongBy;
      const meanwhile = await report(rig.url + TARGET, freshVcon());
      await wait(NOTICED_MS);
      const rests = rig.archivist.seenAt('event').length;
      await wait(NOTICED_MS);
      expect(rig.archivist.seenAt('event').length).toBe(rests);
      rig.archivist.always('event', undefined);
      offMs = 0;
      const queue = open.backend.queue(OPERATION_QUEUE);
      for (const { job } of [before, meanwhile])
        await eventually(async () => (await queue.getJobState(job)) === 'completed');
    } finally {
      await rig.close();
    }
  });

  it('shows no age by it, nor one of what was captured by it, and reports nothing to the service', async () => {
    offMs = -YEARS_MS;
    const rig = await start({ reports: true });
    const oldest = async () => {
      const text = await (await fetch(`${rig.url}/metrics`)).text();
      return Number(/^conserver_link_oldest_seconds (\S+)$/m.exec(text)![1]);
    };
    const reports = () => rig.archivist.seenAt('capture report').map(({ body }) => JSON.parse(body) as CaptureReport);
    try {
      rig.archivist.always('event', { status: 503, body: { error: 'unavailable', description: 'x' } });
      await report(rig.url + TARGET, freshVcon());
      await wait(NOTICED_MS);
      expect(reports()).toEqual([]);
      offMs = 0;
      expect(await oldest()).toBe(0);
      await eventually(() => reports().length > 0);
      expect(reports()[0]).toMatchObject({ depth: 1, oldest_seconds: 0 });
      await report(rig.url + TARGET, freshVcon());
      await eventually(async () => (await oldest()) > 0);
      expect(await oldest()).toBeLessThan(3_600);
      offMs = YEARS_MS;
      // While the queue moves its only job, a reader finds none, and none has no age.
      await eventually(async () => Number.isNaN(await oldest()));
    } finally {
      await rig.close();
    }
  });
});
