import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArchivistClient } from '../../plugins/archivist-client/archivist-client.js';
import type { CaptureReport } from '../../plugins/archivist-client/capture-report.js';
import { EventRefused } from '../../plugins/archivist-client/delivery-failure.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { readOperation } from '../../plugins/operation/operation.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { captureReports } from '../../plugins/report/capture-reports.js';
import { reportCapture } from '../../plugins/report/start-capture-report.js';
import { gapPayload } from '../../plugins/tap/gap-event.js';
import { captureReportBodySchema } from '../../src/archivist/captures/capture-report.js';
import type { PlacedEvent } from '../../src/archivist/live/read-event-page.js';
import { messageData } from '../../src/archivist/webhooks/webhook-message.js';
import { eventually, freshVcon, type OpenBackend, openBackend, report, silent, startRig } from './plugin-rig.js';

let open: OpenBackend;
let folder: string;
beforeAll(async () => {
  open = await openBackend('embedded');
  folder = await mkdtemp(join(tmpdir(), 'capture-report-'));
});
afterAll(async () => {
  await open?.close();
  await rm(folder, { recursive: true, force: true });
});

const sources = { source: randomUUID(), nowMs: Date.now() };

describe('what the plugin reports of capture', () => {
  it('reaches the service of each tenancy with its own dead letters, without the reasons', async () => {
    const tenanciesFile = join(folder, 'tenancies.json');
    const other = { client_id: 'other', client_secret: 'other-client-secret' };
    await writeFile(tenanciesFile, JSON.stringify({ other }));
    const rig = await startRig(open.backend, {
      settings: { tenanciesFile, bulk: false, receipts: false, reports: true },
    });
    try {
      // The first report goes out at the start, the next a minute later: this test reads what would be in it.
      await eventually(async () => rig.archivist.seenAt('capture report').length === 2);
      const bodies = rig.archivist.seenAt('capture report').map(({ body }) => JSON.parse(body) as CaptureReport);
      expect(bodies).toMatchObject(Array(2).fill({ depth: 0, dead_letters: 0, exact: true, letters: [], gaps: [] }));
      expect(new Set(bodies.map(({ source }) => source)).size).toBe(1);
      rig.archivist.always('event', { status: 400, body: { error: 'bad_request', description: 'secret reason' } });
      const jobs = [];
      for (const tenancy of ['', '&tenancy=other'])
        jobs.push((await report(`${rig.url}/operations/vcon_created?chain=main&link=l${tenancy}`, freshVcon())).job);
      const queue = open.backend.queue(OPERATION_QUEUE);
      for (const job of jobs) await eventually(async () => (await queue.getJobState(job)) === 'failed');
      const memory = openMemory({ dataDir: folder, redisUrl: undefined }, silent);
      const parts = { ...sources, backend: open.backend, memory };
      const each = await captureReports({ ...parts, tenancies: ['other'] });
      for (const [place, tenancy] of [undefined, 'other'].entries()) {
        expect(each.get(tenancy)).toMatchObject({ depth: 0, dead_letters: 1, exact: true });
        expect(each.get(tenancy)!.letters).toEqual([
          {
            job: jobs[place],
            operation: 'vcon_created',
            subject: expect.stringMatching(/^vcon:/),
            payload: expect.stringMatching(/^[0-9a-f]{64}$/),
            failed_at: expect.any(String),
          },
        ]);
      }
      const whole = (await captureReports({ ...parts, tenancies: [] })).get(undefined)!;
      expect(JSON.stringify([...each.values()])).not.toContain('secret reason');
      // The other tenancy was taken out of the settings: its letter is named to nobody, and no report is complete.
      expect(whole).toMatchObject({ depth: 0, dead_letters: 1, exact: false, letters: [{ job: jobs[0] }] });
      const third = (await captureReports({ ...parts, tenancies: ['third'] })).values();
      expect([...third].map(({ dead_letters, exact }) => [dead_letters, exact])).toEqual([
        [1, false],
        [0, false],
      ]);
      await memory.close();
    } finally {
      await rig.close();
    }
  });

  it('may name every operation that can be recorded, as a webhook may', () => {
    const { name } = readOperation(`/operations/${'x'.repeat(64)}`);
    const letter = { job: 'ab'.repeat(32), operation: name, failed_at: '2026-11-22T09:58:07.123Z' };
    const state = { depth: 0, oldest_seconds: 0, dead_letters: 1, exact: true, letters: [letter], gaps: [] };
    const body = { source: randomUUID(), observed_at: '2026-11-22T10:00:00.000Z', ...state };
    expect(captureReportBodySchema.parse(body).letters).toEqual([letter]);
    const longer = { ...body, letters: [{ ...letter, operation: `${name}x` }] };
    expect(captureReportBodySchema.safeParse(longer).success).toBe(false);
    const placed = { name: 'event', position: 1n, json: { event_attributes: { vcon_operation: name } } };
    expect(messageData('event.confirmed', placed as PlacedEvent)).toMatchObject({ vcon_operation: name });
  });

  it('is accepted with a dead letter of a document without a UUID, and not warned of where no service takes reports', async () => {
    const rig = await startRig(open.backend, { settings: { bulk: false, receipts: false, reports: false } });
    rig.archivist.always('event', { status: 400, body: { error: 'bad_request' } });
    const { job } = await report(`${rig.url}/operations/vcon_created`, 'not a vCon');
    await eventually(async () => (await open.backend.queue(OPERATION_QUEUE).getJobState(job)) === 'failed');
    await rig.close();
    const memory = openMemory({ dataDir: await mkdtemp(join(folder, 'letter-')), redisUrl: undefined }, silent);
    const told: CaptureReport[] = [];
    const warnings: string[] = [];
    const client = {
      async reportCapture(each: CaptureReport): Promise<void> {
        told.push(each);
        throw new EventRefused(told.length === 1 ? 404 : 400, 'capture report: refused');
      },
    } as unknown as ArchivistClient;
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    const clock = { now: () => sources.nowMs };
    const parts = { backend: open.backend, memory, passages: memory, clients: () => client, tenancies: [], clock };
    await reportCapture({ ...parts, clockIsWrong: () => false, logger });
    expect(warnings).toEqual([]);
    await reportCapture({ ...parts, clockIsWrong: () => false, logger });
    expect(warnings).toHaveLength(1);
    const { letters } = captureReportBodySchema.parse(told[0]);
    expect(letters.find((letter) => letter.job === job)).toMatchObject({ payload: expect.any(String) });
    expect(letters.find((letter) => letter.job === job)).not.toHaveProperty('subject');
    await memory.close();
  });

  it('goes by one name that is remembered; a name that was read wrong is chosen anew, once', async () => {
    const memory = openMemory({ dataDir: await mkdtemp(join(folder, 'name-')), redisUrl: undefined }, silent);
    const seen: string[] = [];
    const client = { reportCapture: async ({ source }: CaptureReport) => void seen.push(source) };
    const parts = {
      backend: open.backend,
      memory,
      passages: memory,
      clients: () => client as ArchivistClient,
      tenancies: [],
      clock: { now: () => sources.nowMs },
      clockIsWrong: () => false,
      logger: silent,
    };
    await reportCapture(parts);
    await reportCapture(parts);
    await memory.write('reporter', 'queue', { source: 'other bytes' });
    await reportCapture(parts);
    await reportCapture(parts);
    expect([new Set(seen).size, seen[0] === seen[1], seen[2] === seen[3]]).toEqual([2, true, true]);
    for (const source of seen) expect(captureReportBodySchema.shape.source.safeParse(source).success).toBe(true);
    await memory.close();
  });

  it('names the days whose gaps were stored for delivery, with the payloads of their events', async () => {
    const memory = openMemory({ dataDir: await mkdtemp(join(folder, 'gaps-')), redisUrl: undefined }, silent);
    const uuids = [randomUUID(), randomUUID()];
    const document = JSON.stringify({
      day: '2026-11-20',
      egress_list: 'out',
      left_without_event: uuids,
      left_with_stock_event: [],
      left_with_other_event: [],
      event_without_leaving: [],
    });
    const documents = JSON.stringify([document]);
    await memory.write('gaps', '2026-11-20', { documents, recorded: '2026-11-20T01:30:00Z' });
    // Not stored yet, and a day on which nothing was missing.
    await memory.write('gaps', '2026-11-21', { documents });
    await memory.write('gaps', '2026-11-19', { documents: '[]', recorded: '2026-11-19T01:30:00Z' });
    const { gaps } = (await captureReports({ ...sources, backend: open.backend, memory, tenancies: [] })).get(
      undefined,
    )!;
    expect(gaps).toEqual([{ day: '2026-11-20', vcons: 2, payloads: [gapPayload(document)] }]);
    const days = Array.from({ length: 31 }, (_, day) => `2026-10-${String(day + 1).padStart(2, '0')}`);
    for (const day of days.toReversed()) await memory.write('gaps', day, { documents, recorded: `${day}T01:30:00Z` });
    const newest = (await captureReports({ ...sources, backend: open.backend, memory, tenancies: [] })).get(undefined)!;
    expect(newest.gaps.map(({ day }) => day)).toEqual(['2026-11-20', ...days.slice(1).toReversed()]);
    await memory.close();
  });
});
