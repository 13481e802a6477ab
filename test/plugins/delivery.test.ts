import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import {
  ENGINES,
  eventually,
  freshVcon,
  type OpenBackend,
  openBackend,
  type Rig,
  report,
  startRig,
} from './plugin-rig.js';
import { SCRIPTED_TENANCY, scriptedToken } from './scripted-archivist.js';

const TARGET = '/operations/vcon_created?chain=main&link=evidence_created';

describe.each(ENGINES)('delivery, queue on %s', (engine) => {
  let open: OpenBackend;
  let rig: Rig;

  beforeAll(async () => {
    open = await openBackend(engine);
  });
  beforeEach(async () => {
    rig = await startRig(open.backend);
  });
  afterEach(async () => {
    await rig.close();
    await open.empty();
  });
  afterAll(() => open.close());

  const queue = () => open.backend.queue(OPERATION_QUEUE);
  const capture = (vcon = freshVcon()) => report(rig.url + TARGET, vcon);
  const inState = (job: string, state: string) => eventually(async () => (await queue().getJobState(job)) === state);

  it('makes the asset once, records the event under the job’s id, and asks for one token', async () => {
    const vcon = freshVcon();
    const { job, subject } = await capture(vcon);
    await inState(job, 'completed');
    const again = await report(`${rig.url}/operations/transcribed?chain=main&link=evidence_transcribed`, vcon);
    await inState(again.job, 'completed');
    const { archivist } = rig;
    expect(archivist.seenAt('token')).toHaveLength(1);
    expect(archivist.seenAt('asset look-up')).toHaveLength(1);
    const [asset] = archivist.seenAt('asset');
    expect(archivist.seenAt('asset')).toHaveLength(1);
    expect(asset!.headers['idempotency-key']).toBe(`asset:${subject}`);
    expect(JSON.parse(asset!.body)).toEqual({
      behaviours: ['RecordEvidence'],
      attributes: { arc_display_type: 'vcon', arc_display_name: subject, subject },
      public: false,
    });
    const events = archivist.seenAt('event');
    expect(events).toHaveLength(2);
    expect(events[0]!.headers['idempotency-key']).toBe(job);
    expect(events[0]!.headers['authorization']).toBe(`Bearer ${scriptedToken(1)}`);
    expect(JSON.parse(events[0]!.body)).toMatchObject({
      operation: 'Record',
      behaviour: 'RecordEvidence',
      timestamp_declared: '2026-11-20T10:00:00+00:00',
      event_attributes: { subject, arc_display_type: 'vcon_created', vcon_operation: 'vcon_created' },
    });
    expect(JSON.parse(events[1]!.body).event_attributes).toMatchObject({
      vcon_operation: 'vcon_enhanced',
      vcon_operation_reported: 'vcon_transcribed',
    });
  });

  it('uses the asset that the look-up finds', async () => {
    const identity = 'assets/00000000-0000-4000-8000-00000000000f';
    const found = { identity, tenant_identity: SCRIPTED_TENANCY, public: false };
    rig.archivist.script('asset look-up', { status: 206, body: { assets: [found] } });
    const { job, subject } = await capture();
    await inState(job, 'completed');
    expect(rig.archivist.seenAt('asset')).toHaveLength(0);
    expect(rig.archivist.seenAt('asset look-up')[0]!.path).toContain(
      `attributes.subject=${encodeURIComponent(subject)}`,
    );
    expect(rig.archivist.seenAt('event')[0]!.path).toBe(`/archivist/v2/${identity}/events`);
  });

  it('refreshes the token once on a 401, and waits when the new one is refused too', async () => {
    rig.archivist.script('event', { status: 401 });
    await inState((await capture()).job, 'completed');
    expect(rig.archivist.seenAt('token')).toHaveLength(2);
    expect(rig.archivist.seenAt('event').map(({ headers }) => headers['authorization'])).toEqual([
      `Bearer ${scriptedToken(1)}`,
      `Bearer ${scriptedToken(2)}`,
    ]);
    rig.archivist.script('event', { status: 401 }, { status: 401 });
    await inState((await capture()).job, 'completed');
    expect(rig.archivist.seenAt('event')).toHaveLength(5);
  });

  it('renews a token a minute before it expires', async () => {
    rig.archivist.expiresIn = 60;
    await inState((await capture()).job, 'completed');
    const requests = rig.archivist.seen.length - rig.archivist.seenAt('token').length;
    expect(rig.archivist.seenAt('token')).toHaveLength(requests);
  });

  it.each([400, 404, 409, 413, 422])(
    'keeps a %i as a dead letter with the reason, at the first attempt',
    async (status) => {
      rig.archivist.always('event', { status, body: { error: 'no', description: `because of ${status}` } });
      const { job } = await capture();
      await inState(job, 'failed');
      expect((await queue().getJob(job))!.failedReason).toBe(`event: ${status} no: because of ${status}`);
      expect(rig.archivist.seenAt('event')).toHaveLength(1);
      expect(await rig.registry.metrics()).toContain('conserver_link_dead_letters 1');
    },
  );

  it('keeps the whole reason of a dead letter', async () => {
    const description = `${'The attribute names are too long. '.repeat(40)}Send shorter ones.`;
    rig.archivist.script('event', { status: 400, body: { error: 'invalid_argument', description } });
    const first = await capture();
    await inState(first.job, 'failed');
    expect((await queue().getJob(first.job))!.failedReason).toBe(`event: 400 invalid_argument: ${description}`);
  });

  it('waits while something that is not the service says 404 or 400, be it of the asset or of the event', async () => {
    const absent = { status: 404, headers: { 'content-type': 'text/plain' }, raw: '404 page not found' };
    const broken = { status: 400, body: { message: 'no route' } };
    rig.archivist.script('asset look-up', absent, broken);
    rig.archivist.script('event', absent, broken);
    const { job } = await capture();
    await inState(job, 'completed');
    expect(rig.archivist.seenAt('event').length).toBeGreaterThan(2);
  });

  it('sends a dead letter again when its operation is captured again', async () => {
    rig.archivist.script('event', { status: 400 });
    const vcon = freshVcon();
    const { job } = await capture(vcon);
    await inState(job, 'failed');
    expect(await capture(vcon)).toMatchObject({ job });
    await inState(job, 'completed');
    expect(rig.archivist.seenAt('event').map(({ headers }) => headers['idempotency-key'])).toEqual([job, job]);
  });

  it.each([
    ['402', { status: 402 }],
    ['403', { status: 403 }],
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }],
    ['a dropped connection', 'reset' as const],
  ])('waits after %s and delivers in the end, with the same key', async (_, fault) => {
    rig.archivist.script('token', fault);
    rig.archivist.script('asset', fault);
    rig.archivist.script('event', fault, fault, fault);
    const { job } = await capture();
    await inState(job, 'completed');
    const events = rig.archivist.seenAt('event');
    expect(events).toHaveLength(4);
    expect(new Set(events.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`)).size).toBe(1);
  });

  it('comes back no earlier than Retry-After says', async () => {
    rig.archivist.script('event', { status: 429, headers: { 'retry-after': '1' } });
    await inState((await capture()).job, 'completed');
    const [first, second] = rig.archivist.seenAt('event');
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(990);
  });

  it('makes the asset anew when the service no longer knows the one that is remembered', async () => {
    const vcon = freshVcon();
    await inState((await capture(vcon)).job, 'completed');
    rig.archivist.script('event', { status: 404 });
    const answer = await rig.post('/operations/vcon_sent', vcon);
    await inState(((await answer.json()) as { job: string }).job, 'completed');
    expect(rig.archivist.seenAt('asset')).toHaveLength(2);
  });

  it('records on the asset that a restored service has in place of the one that is remembered', async () => {
    const vcon = freshVcon();
    await inState((await capture(vcon)).job, 'completed');
    const other = { identity: 'assets/00000000-0000-4000-8000-00000000000f', tenant_identity: SCRIPTED_TENANCY };
    rig.archivist.script('event', { status: 404 });
    rig.archivist.script('asset look-up', { status: 200, body: { assets: [other] } });
    const { job } = await report(`${rig.url}/operations/vcon_sent`, vcon);
    await inState(job, 'completed');
    expect(rig.archivist.seenAt('event').at(-1)!.path).toBe(`/archivist/v2/${other.identity}/events`);
    expect(rig.archivist.seenAt('asset')).toHaveLength(1);
  });

  it('takes an event that stands already for delivered, when its key is refused with another time', async () => {
    const identity = 'assets/00000000-0000-4000-8000-000000000001/events/00000000-0000-4000-8000-00000000000e';
    rig.archivist.script('event', { status: 422 });
    rig.archivist.script('event look-up', { status: 200, body: { events: [{ identity }] } });
    const { job } = await capture();
    await inState(job, 'completed');
    expect((await queue().getJob(job))!.returnvalue).toBe(identity);
    expect(rig.archivist.seenAt('event look-up')[0]!.path).toMatch(/event_attributes\.payload=[0-9a-f]{64}/);
  });

  it('loses and doubles nothing over an outage, and shows what waits and since when', async () => {
    rig.archivist.always('event', 'reset');
    const jobs: string[] = [];
    for (let count = 0; count < 20; count++) jobs.push((await capture()).job);
    await eventually(async () => rig.archivist.seenAt('event').length > 30);
    const shown = await (await fetch(`${rig.url}/metrics`)).text();
    expect(shown).toContain('conserver_link_queue_depth 20');
    expect(Number(/^conserver_link_oldest_seconds (\S+)$/m.exec(shown)![1])).toBeGreaterThan(0);
    rig.archivist.always('event', undefined);
    const before = rig.archivist.seenAt('event').length;
    for (const job of jobs) await inState(job, 'completed');
    const after = rig.archivist.seenAt('event').slice(before);
    expect(new Set(after.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(jobs));
    expect(await rig.registry.metrics()).toContain('conserver_link_queue_depth 0');
  });

  it('leaves the operations under way for the next start', async () => {
    rig.archivist.always('event', { status: 503 });
    const { job } = await capture();
    await eventually(() => rig.archivist.seenAt('event').length > 0);
    await rig.close();
    rig = await startRig(open.backend);
    await inState(job, 'completed');
    expect(rig.archivist.seenAt('event')[0]!.headers['idempotency-key']).toBe(job);
  });
});
