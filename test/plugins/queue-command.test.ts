import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnrecoverableError } from 'bullmq';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { archivistClients } from '../../plugins/archivist-client/archivist-clients.js';
import { createOperationMetrics } from '../../plugins/capture/capture-metrics.js';
import { enqueueOperation } from '../../plugins/capture/enqueue-operation.js';
import { startDelivery } from '../../plugins/delivery/delivery-worker.js';
import { operationEvent } from '../../plugins/operation/operation-event.js';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import { dropOperation } from '../../plugins/operator/drop-operation.js';
import { findJob } from '../../plugins/operator/kept-operation.js';
import { openOperatorQueue } from '../../src/cli/plugin/open-operator-queue.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { commandLine } from '../support/command-line.js';
import { embeddedDataDir, engines } from '../support/engines.js';
import { emptyRedis } from '../support/own-redis.js';
import { redisUrl } from '../support/prerequisites.js';
import { eventually, freshVcon, silent } from './plugin-rig.js';
import { type ScriptedArchivist, startScriptedArchivist } from './scripted-archivist.js';

const VARIABLES = ['REDIS_URL', 'DATABASE_URL', 'DATA_DIR'] as const;
type Place = Partial<Record<(typeof VARIABLES)[number], string>>;

function environment(place: Place): void {
  for (const name of VARIABLES) vi.stubEnv(name, place[name]);
}

const run = (...args: string[]) => commandLine(['queue', ...args]);

async function document(...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run(...args, '--json')).out) as Record<string, unknown>;
}

const CAPTURE = { name: 'vcon_created', chain: 'main', link: 'evidence_created' };
const places = [
  ...engines().map((engine) => ({
    name: String(engine),
    async open() {
      const { environment: place, remove } = await engine.place();
      return { place: place as Place, remove };
    },
  })),
  ...(redisUrl
    ? [
        {
          name: 'Redis',
          open: async () => ({ place: { REDIS_URL: await emptyRedis() }, remove: async () => undefined }),
        },
      ]
    : []),
];

describe.each(places)('vcon-archivist queue on $name', ({ open }) => {
  let place: Place;
  let remove: () => Promise<unknown>;
  let archivist: ScriptedArchivist;

  beforeEach(async () => {
    archivist = await startScriptedArchivist();
    ({ place, remove } = await open());
    environment(place);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await archivist.close();
    await remove();
  });

  async function onBackend<T>(work: (backend: QueueBackend) => Promise<T>): Promise<T> {
    const config = { redisUrl: place.REDIS_URL, databaseUrl: place.DATABASE_URL, dataDir: place.DATA_DIR ?? '' };
    const queue = await openOperatorQueue(config, silent);
    try {
      return await work(queue.backend);
    } finally {
      await queue.close();
    }
  }

  async function keepOn(backend: QueueBackend, vcon: string): Promise<string> {
    const observed = { atMs: Date.now() - 5_000, sequence: '1' };
    const event = operationEvent(CAPTURE, await vconFacts(Buffer.from(vcon)), { method: 'receiver', observed });
    return enqueueOperation(backend, CAPTURE, event);
  }

  /** Runs delivery until these jobs are in this state. */
  async function deliverOn(backend: QueueBackend, state: string, jobs: readonly string[]): Promise<void> {
    const clock = { now: () => Date.now() };
    const settings = { archivistUrl: archivist.url, clientId: 'id', clientSecret: 'secret' };
    const clients = archivistClients(settings, new Map(), clock);
    const metrics = createOperationMetrics(new Registry());
    const common = { backend, clients, metrics, logger: silent };
    const delivery = startDelivery({ ...common, random: () => 0.5, clockIsWrong: () => false });
    await eventually(async () => {
      const states = await Promise.all(jobs.map((job) => backend.queue(OPERATION_QUEUE).getJobState(job)));
      return states.every((each) => each === state);
    });
    await delivery.close();
  }
  const deliver = (state: string, ...jobs: string[]) => onBackend((backend) => deliverOn(backend, state, jobs));

  /** Keeps each of these, and delivers to a service that refuses them. */
  async function refusedOn(backend: QueueBackend, vcons: readonly string[]): Promise<string[]> {
    archivist.always('event', { status: 400, body: { error: 'invalid', description: 'not \u001b[31mthis' } });
    const jobs: string[] = [];
    for (const vcon of vcons) jobs.push(await keepOn(backend, vcon));
    await deliverOn(backend, 'failed', jobs);
    archivist.always('event', undefined);
    return jobs;
  }
  const refusedJobs = (vcons: readonly string[]) => onBackend((backend) => refusedOn(backend, vcons));
  /** A dead letter, and one that waits. The queue is opened once: that takes longest. */
  const deadAndWaiting = () =>
    onBackend(async (backend) => {
      const [dead] = await refusedOn(backend, [freshVcon()]);
      return { dead: dead!, waits: await keepOn(backend, freshVcon()) };
    });

  async function deadLetter(vcon = freshVcon()): Promise<string> {
    const [job] = await refusedJobs([vcon]);
    return job!;
  }

  it('tells what waits and what is dead, for a person and for a machine', async () => {
    const { dead } = await deadAndWaiting();
    const { out, exitCode } = await run();
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /waiting for delivery {2}1, the oldest for \d+ s\n {2}vcon_created +1, the oldest for \d+ s\ndead letters {10}1\n/,
    );
    expect(out).toContain(dead);
    expect(out).not.toContain('\u001b');
    expect(await document()).toMatchObject({
      depth: 1,
      deadLetters: 1,
      fullDisks: [],
      letters: [{ job: dead, state: 'failed', operation: 'vcon_created', reason: expect.stringContaining('400') }],
    });
    expect(await document('show', dead)).toMatchObject({ job: dead, attributes: { conserver_chain: 'main' } });
    expect((await run('show', dead)).out).toContain('state     dead letter');
  });

  it('says which disks are full', async () => {
    process.env['MIN_FREE_DISK_BYTES'] = '999999999999999';
    try {
      expect((await run()).out).toMatch(/^Queue on .*\n(DISK FULL +database, .*\n)?DISK FULL +spool, \d+ MiB free: /);
      expect(await document()).toMatchObject({
        fullDisks: expect.arrayContaining([{ disk: 'spool', freeBytes: expect.any(Number) }]),
      });
    } finally {
      delete process.env['MIN_FREE_DISK_BYTES'];
    }
  });

  it('replays one dead letter, or all, into one event each', async () => {
    const [first, second, third] = (await refusedJobs([freshVcon(), freshVcon(), freshVcon()])) as [
      string,
      string,
      string,
    ];
    const refused = archivist.seenAt('event').length;
    expect((await run('replay', first)).exitCode).toBe(0);
    expect(await document('replay', '--all')).toEqual({ replayed: 2 });
    await deliver('completed', first, second, third);
    const keys = archivist.seenAt('event').slice(refused);
    expect(keys.map(({ headers }) => headers['idempotency-key']).sort()).toEqual([first, second, third].sort());
    expect((await run('replay', first)).exitCode).toBe(1);
  });

  it('drops a dead letter only by recording it, once, with the hash and the reason', async () => {
    const dead = await deadLetter();
    const { attributes, subject } = (await document('show', dead)) as {
      attributes: Record<string, string>;
      subject: string;
    };
    const { record } = (await document('drop', dead, '--reason', 'test call, OPS-17')) as { record: string };
    expect((await run('show', dead)).exitCode).toBe(1);
    expect(await document()).toMatchObject({ depth: 1, deadLetters: 0 });
    await deliver('completed', record);
    const sent = archivist.seenAt('event').at(-1)!;
    expect(sent.headers['idempotency-key']).toBe(record);
    expect(JSON.parse(sent.body).event_attributes).toMatchObject({
      vcon_operation: 'vcon_capture_dropped',
      arc_display_type: 'vcon_capture_dropped',
      subject,
      payload: attributes['payload'],
      dropped_operation: 'vcon_created',
      dropped_job: dead,
      dropped_reason: 'test call, OPS-17',
    });
  });

  it('drops nothing while a service that vouches for its own clock contradicts the one that the record would have', async () => {
    const dead = await deadLetter();
    vi.stubEnv('ARCHIVIST_URL', archivist.url);
    const rightNow = Date.now;
    const ahead = vi.spyOn(Date, 'now').mockImplementation(() => rightNow() + 3_600_000);
    try {
      archivist.always('token', { status: 401 });
      const { err, exitCode } = await run('drop', dead, '--reason', 'test call');
      const said = expect.stringMatching(/clock of this machine is 3\d{3} s ahead of the service's/);
      expect([exitCode, err]).toEqual([1, said]);
      archivist.always('token', { status: 503 });
      expect(await document('drop', dead, '--reason', 'test call')).toMatchObject({ dropped: dead });
    } finally {
      ahead.mockRestore();
    }
  });

  it('records the drop of a tenancy’s dead letter for that tenancy', async () => {
    const tenancy = await onBackend(async (backend) => {
      const observed = { atMs: Date.now(), sequence: '1' };
      const operation = { ...CAPTURE, tenancy: 'north' };
      const vcon = await vconFacts(Buffer.from(freshVcon()));
      const job = await enqueueOperation(
        backend,
        operation,
        operationEvent(operation, vcon, { method: 'link', observed }),
      );
      const queue = backend.queue(OPERATION_QUEUE);
      const worker = backend.worker(OPERATION_QUEUE, () => Promise.reject(new UnrecoverableError('refused')));
      await eventually(async () => (await queue.getJobState(job)) === 'failed');
      await worker.close();
      const { record } = await dropOperation(backend, { now: () => Date.now() }, job, 'test call');
      return (await findJob(backend, record)).data.tenancy;
    });
    expect(tenancy).toBe('north');
  });

  it('finishes a drop that a crash cut short under the first record', async () => {
    const vcon = freshVcon();
    const dead = await deadLetter(vcon);
    const first = await document('drop', dead, '--reason', 'first');
    // The dead letter is there again, its record too.
    expect(await deadLetter(vcon)).toBe(dead);
    const second = await document('drop', dead, '--reason', 'second');
    expect(second['record']).toBe(first['record']);
    const shown = (await document('show', String(second['record']))) as { attributes: Record<string, string> };
    expect(shown.attributes['dropped_reason']).toBe('first');
  });

  it('drops nothing that may still be delivered, and no record of a drop', async () => {
    const { dead, waits } = await deadAndWaiting();
    expect(await run('drop', waits, '--reason', 'no')).toMatchObject({ exitCode: 1 });
    const { record } = (await document('drop', dead, '--reason', 'no')) as { record: string };
    archivist.always('event', { status: 400 });
    await deliver('failed', record, waits);
    expect((await run('drop', record, '--reason', 'no')).exitCode).toBe(1);
    const { letters } = (await document()) as { letters: { job: string }[] };
    expect(letters.map(({ job }) => job).sort()).toEqual([record, waits].sort());
  });

  it('keeps the dead letter when the reason will not do, and does not repeat the reason', async () => {
    const dead = await deadLetter();
    const numbers = ['caller +1 555 123 4567', 'caller 555-123-4567'];
    for (const reason of ['x'.repeat(201), ' ', 'two\nlines', 'asked by ann@example.com', ...numbers]) {
      const { exitCode, err } = await run('drop', dead, '--reason', reason);
      expect(exitCode, reason).toBe(1);
      if (reason !== ' ') expect(err).not.toContain(reason);
    }
    expect(await document('show', dead)).toMatchObject({ state: 'failed' });
  });
});

describe('vcon-archivist queue says what is wrong with its options', () => {
  it('for a person and for a machine', async () => {
    const { environment: place, remove } = await engines().at(-1)!.place();
    environment(place);
    for (const [args, says] of [
      [['--limit', '1001'], '--limit must be a number up to 1000'],
      [['--limit', 'all'], '--limit must be a number up to 1000'],
      [['replay'], 'give either one job or --all'],
      [['replay', 'a-job', '--all'], 'give either one job or --all'],
    ] as const) {
      expect(await run(...args)).toMatchObject({ exitCode: 2, err: `error: ${says}`, out: '' });
    }
    const { out, exitCode } = await run('--json', '--limit', '-1');
    expect([exitCode, JSON.parse(out)]).toEqual([2, { error: '--limit must be a number up to 1000' }]);
    vi.unstubAllEnvs();
    await remove();
  });
});

describe('vcon-archivist queue without a queue to open', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('says that an embedded queue cannot be seen beside the service that has it open', async () => {
    const dataDir = await embeddedDataDir();
    const queue = await openOperatorQueue({ redisUrl: undefined, databaseUrl: undefined, dataDir }, silent);
    environment({ DATA_DIR: dataDir });
    const { err, exitCode } = await run();
    await queue.close();
    expect(exitCode).toBe(2);
    expect(err).toMatch(
      /embedded queue .* is in use by the running service or plugin.*: stop that process, or keep the queue in Redis/,
    );
    await rm(dataDir, { recursive: true });
  });

  it('makes no queue where there is none', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'no-queue-'));
    environment({ DATA_DIR: dataDir });
    expect(await run()).toMatchObject({ exitCode: 2, err: expect.stringContaining('there is no queue in') });
    expect(await readdir(dataDir)).toEqual([]);
    await rm(dataDir, { recursive: true });
  });

  it('tells a Redis that cannot be reached, without its password', async () => {
    environment({ REDIS_URL: 'redis://:hush-hush@127.0.0.1:1' });
    const { err, exitCode } = await run();
    expect(exitCode).toBe(2);
    expect(err).toMatch(/REDIS_URL cannot be reached: nothing listens there/);
    expect(err).not.toContain('hush-hush');
  });
});
