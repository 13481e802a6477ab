import { EventEmitter, getEventListeners, once } from 'node:events';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEventPage } from '../../src/archivist/live/read-event-page.js';
import { createEventStreams } from '../../src/archivist/live/stream-events.js';
import { followGrowth } from '../../src/ledger/log-growth.js';
import { localAnnouncements } from '../../src/platform/postgres/announcements.js';
import { parseConfig } from '../../src/service/config/config.js';
import { startService } from '../../src/start-service.js';
import { freePort } from '../support/free-port.js';
import { serverUrl } from '../support/prerequisites.js';
import { type OpenStream, openStream, type StreamFrame } from './open-stream.js';
import { forClient, openScene, type Scene } from './policy-scene.js';
import { type Client, clientWith, requestToken } from './test-service.js';

let scene: Scene;
let owner: Client;
const open: OpenStream[] = [];
beforeAll(async () => {
  scene = await openScene();
  ({ owner } = scene);
});
afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await scene?.close();
});

async function stream(by: Client, query = '', headers: Record<string, string> = {}, url = scene.url) {
  const opened = await openStream(url, by, query, headers);
  open.push(opened);
  return opened;
}

const note = async (by: Client = owner, text = 'a note') => {
  const answer = await by.post('/archivist/v1/events', { event_type: 'note', attributes: { text } });
  expect(answer.status, String(answer.json['description'])).toBe(200);
  return String(answer.json['identity']);
};
const of = (identity: string) => (frame: StreamFrame) => frame.data['identity'] === identity;
const isEvent = ({ event }: StreamFrame) => event === 'asset_event' || event === 'asset_free_event';

describe('the stream of events', () => {
  it('tells each event once it is confirmed, as a GET shows it, and begins with the position to resume from', async () => {
    const told = await stream(owner);
    expect(told.status).toBe(200);
    expect(told.headers.get('content-type')).toBe('text/event-stream');
    expect(told.headers.get('cache-control')).toBe('no-store');
    const first = await told.frame(({ event }) => event === 'position');
    expect(first.data).toEqual({ position: first.id });
    const asset = await scene.asset({ arc_display_type: 'call' });
    const recorded = await scene.event(asset, { event_attributes: { arc_display_type: 'note' } });
    const free = await note();
    for (const [identity, name, version] of [
      [recorded, 'asset_event', 'v2'],
      [free, 'asset_free_event', 'v1'],
    ] as const) {
      const frame = await told.frame(of(identity));
      expect(frame.event).toBe(name);
      expect(frame.data['confirmation_status']).toMatch(/^(CONFIRMED|UNEQUIVOCAL)$/);
      const shown = (await owner.get(`/archivist/${version}/${identity}`)).json;
      // A block, and a witness, may have come since.
      const settled = ({ block_number, transaction_id, transaction_index, ...json }: Record<string, unknown>) =>
        JSON.parse(
          JSON.stringify(json).replace('UNEQUIVOCAL', 'CONFIRMED').replace('"unequivocal":{}', '"unequivocal":null'),
        );
      expect(settled(shown)).toEqual(settled(frame.data));
    }
  });

  it('tells every event exactly once and in the order of the log, however many are recorded at once and wherever it is cut', async () => {
    const begun = await stream(owner);
    await begun.frame(({ event }) => event === 'position');
    const since = begun.lastId()!;
    await begun.close();
    const writers = await Promise.all([owner, owner, scene.client({}), scene.client({})]);
    const writing = Promise.all(
      writers.map(async (writer, of) => {
        const made: string[] = [];
        for (let each = 0; each < 15; each += 1) made.push(await note(writer, `${of} ${each}`));
        return made;
      }),
    );
    const told: StreamFrame[] = [];
    let cursor = since;
    let expected: Set<string> | undefined;
    void writing.then((all) => {
      expected = new Set(all.flat());
    });
    const deadline = Date.now() + 60_000;
    for (let cuts = 0; !expected || told.length < expected.size; cuts += 1) {
      expect(Date.now(), `told ${told.length} of ${expected?.size}`).toBeLessThan(deadline);
      // Every other time by the header of a browser, and cut after a few events, or when no more come.
      const by =
        cuts % 2 === 0 ? [`?cursor=${cursor}&seconds=2`, {}] : ['?cursor=-1&seconds=2', { 'last-event-id': cursor }];
      const piece = await stream(owner, by[0] as string, by[1] as Record<string, string>);
      const wanted = cuts % 5;
      await piece.frame(() => piece.frames.filter(isEvent).length > wanted).catch(() => undefined);
      await piece.close();
      told.push(...piece.frames.filter(isEvent));
      cursor = piece.lastId() ?? cursor;
    }
    await writing;
    expect(new Set(told.map(({ data }) => data['identity']))).toEqual(expected);
    expect(told).toHaveLength(expected!.size);
    const positions = told.map(({ id }) => Number(id));
    expect(positions).toEqual([...positions].sort((left, right) => left - right));
  }, 120_000);

  it('shows everything published with seconds=0, and ends', async () => {
    const identity = await note();
    const live = await stream(owner, '?cursor=-1');
    const { id } = await live.frame(of(identity));
    const caught = await stream(owner, '?cursor=-1&seconds=0');
    await caught.ended;
    expect(caught.frames.some(of(identity))).toBe(true);
    expect(Number(caught.lastId())).toBeGreaterThanOrEqual(Number(id));
  });

  it('is read in pages that end after a quarter of a MiB of each kind of event, and that leave out no position', async () => {
    // The largest that an asset-free event may be.
    const LARGE = 60_000;
    const asset = await scene.asset({ arc_display_type: 'large' });
    const first = await note(owner, 'x'.repeat(LARGE));
    for (let each = 0; each < 12; each += 1) {
      await scene.event(asset, { event_attributes: { text: 'y'.repeat(LARGE) } });
      await note(owner, 'x'.repeat(LARGE));
    }
    const end = await note();
    const told = await stream(owner, '?cursor=-1');
    const { id } = await told.frame(of(end));
    const { deployment, database } = scene.service.parts;
    const tenantId = String((await owner.get(`/archivist/v2/${asset}`)).json['tenant_identity']).slice(
      'tenant/'.length,
    );
    const principal = { tenantId, issuer: '', subject: '', displayName: '', email: '', roles: ['OWNER'], claims: {} };
    const seen: string[] = [];
    const pages: number[] = [];
    let cursor = BigInt((await told.frame(of(first))).id!) - 1n;
    for (let more = true; more; ) {
      const page = await readEventPage({ database, deployment }, principal, cursor);
      expect(page.last).toBeGreaterThan(cursor);
      seen.push(...page.events.map(({ position }) => String(position)));
      pages.push(JSON.stringify(page.events.map(({ json }) => json)).length);
      ({ last: cursor, more } = page);
    }
    expect(Math.max(...pages)).toBeLessThan(2 * (256 * 1024 + LARGE + 10_000));
    const frames = told.frames.filter((frame) => isEvent(frame) && Number(frame.id) <= Number(id));
    const since = frames.findIndex(of(first));
    expect(seen.slice(0, frames.length - since)).toEqual(frames.slice(since).map((frame) => frame.id));
  });

  it('decides at delivery what the reader may read, and leaves out the rest', async () => {
    const reader = await scene.client({});
    const permission = { behaviours: ['*'], asset_attributes_read: ['*'], event_arc_display_type_read: ['shown'] };
    const policy = await scene.policy('streamed', forClient(reader, permission));
    const asset = await scene.asset({ arc_display_type: 'streamed' });
    const told = await stream(reader);
    const record = (kind: string) => scene.event(asset, { event_attributes: { arc_display_type: kind } });
    const hidden = await record('hidden');
    const shown = await record('shown');
    expect((await told.frame(of(shown))).data['event_attributes']).toMatchObject({ arc_display_type: 'shown' });
    expect((await scene.remove(owner, `/archivist/iam/v1/${policy}`)).status).toBe(200);
    const after = await record('shown');
    const own = await note(reader);
    await told.frame(of(own));
    expect(told.frames.some(of(hidden))).toBe(false);
    expect(told.frames.some(of(after))).toBe(false);
    expect(told.frames.map(({ event }) => event)).not.toContain('security_event');
  });

  it('shows nothing of another tenancy', async () => {
    const stranger = await scene.client({ otherTenancy: true, roles: ['OWNER'] });
    const told = await stream(stranger, '?cursor=-1');
    const foreign = await note();
    const own = await note(stranger);
    await told.frame(of(own));
    expect(told.frames.some(of(foreign))).toBe(false);
  });

  it('ends with its token', async () => {
    const made = await owner.post('/archivist/iam/v1/applications', { display_name: 'Listener', custom_claims: {} });
    const [credential] = made.json['credentials'] as { secret: string }[];
    const client_id = String(made.json['client_id']);
    const form = { grant_type: 'client_credentials', client_id, client_secret: credential!.secret };
    const listener = clientWith(
      scene.url,
      String((await requestToken(scene.url, form)).json['access_token']),
      client_id,
    );
    const told = await stream(listener);
    const own = await note(listener);
    await told.frame(of(own));
    expect((await owner.post(`/archivist/iam/v1/${made.json['identity']}:revoke-tokens`, {})).status).toBe(200);
    await note();
    expect((await told.frame(({ event }) => event === 'end')).data).toMatchObject({ error: 'unauthorized' });
    await told.ended;
  });

  it('refuses a cursor that is no position, one beyond the log, more streams than a caller may have, and no token', async () => {
    for (const cursor of ['x', '-2', '1.5', '01', '9'.repeat(18)])
      expect([cursor, (await stream(owner, `?cursor=${cursor}`)).status]).toEqual([cursor, 400]);
    expect((await stream(owner, '', { 'last-event-id': 'x' })).status).toBe(400);
    expect((await stream(scene.anonymous)).status).toBe(401);
    const busy = await scene.client({});
    // All at once: a place is taken before anything is awaited.
    const asked = await Promise.all(Array.from({ length: 24 }, () => stream(busy)));
    expect(asked.filter(({ status }) => status === 200).length).toBe(16);
    const refused = asked.filter(({ status }) => status === 429);
    expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(Array(8).fill('5'));
    await Promise.all(asked.map((each) => each.close()));
    await expect.poll(async () => (await stream(busy)).status, { timeout: 30_000 }).toBe(200);
  });

  /** The streams of a process without its requests, so many days later. */
  function directStreams(days = 0, logger = pino({ level: 'silent' })) {
    const { database, deployment } = scene.service.parts;
    const growth = followGrowth({ database, announcements: localAnnouncements(), logger });
    const clock = { now: () => Date.now() + days * 24 * 3600 * 1000 };
    const names = { tenantId: ownTenancy(), issuer: '', subject: '', displayName: '', email: '' };
    const principal = { ...names, roles: ['OWNER'], claims: {} };
    const streams = createEventStreams({ database, deployment, logger, growth, clock });
    const ask = (cursor: bigint | undefined, gone = new AbortController().signal) =>
      streams({ principal, cursor, seconds: 0, gone, identify: async () => principal });
    return { ask, close: () => growth.close() };
  }

  it('counts a stream before it waits for anything: of 24 that are asked for in one moment, 16 are opened', async () => {
    const direct = directStreams();
    // None of them continues before the last one is requested.
    const asked = await Promise.allSettled(Array.from({ length: 24 }, () => direct.ask(undefined)));
    const opened = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(opened).toHaveLength(16);
    expect(refused).toMatchObject(Array(8).fill({ code: 'rate_limited' }));
    const ended = opened.map((each) => new Promise((resolve) => each.once('close', resolve)));
    for (const each of opened) each.destroy();
    await Promise.all(ended);
    (await direct.ask(undefined)).destroy();
    direct.close();
  });

  it('logs no failure when a client disconnects in the middle of a message', async () => {
    const told = await stream(owner, '?cursor=-1');
    for (let notes = 0; notes < 4; notes += 1) await told.frame(of(await note()));
    await told.close();
    const lines: string[] = [];
    const direct = directStreams(0, pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }));
    const client = new AbortController();
    const opened = await direct.ask(-1n, client.signal);
    const closed = once(opened, 'error');
    // The position, and the first of several events.
    for (let read = 0; read < 2; ) {
      if (opened.read() === null) await once(opened, 'readable');
      else read += 1;
    }
    client.abort();
    // As a pipeline does when the response is closed.
    opened.destroy(new Error('Premature close'));
    await closed;
    await expect.poll(() => opened.closed).toBe(true);
    expect(lines).toEqual([]);
    direct.close();
  });

  it('leaves nothing of itself with its connection, which a proxy keeps for any number of streams', async () => {
    const { ask, close } = directStreams();
    const { signal } = new AbortController();
    const told = await ask(undefined, signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await Promise.all([once(told, 'close'), told.resume()]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    close();
  });

  it('resumes over seven days, then says that it is gone', async () => {
    await note();
    const [six, eight] = [directStreams(6), directStreams(8)];
    (await six.ask(-1n)).destroy();
    await expect(eight.ask(-1n)).rejects.toMatchObject({ status: 410, code: 'gone' });
    (await eight.ask(undefined)).destroy();
    six.close();
    eight.close();
  });

  it.skipIf(!serverUrl)(
    'tells an event whose transaction commits after a later event was told, whether the client stays or resumes',
    async () => {
      // The transaction of this one event waits, after its id and its time were given, for a lock that the test holds.
      await scene.asOwner(`CREATE FUNCTION archivist.hold_back() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.attributes ->> 'text' = 'held back' THEN PERFORM pg_advisory_xact_lock(20261122); END IF;
          RETURN NEW;
        END $$`);
      await scene.asOwner(`CREATE TRIGGER hold_back AFTER INSERT ON archivist.asset_free_event
        FOR EACH ROW EXECUTE FUNCTION archivist.hold_back()`);
      // Each process has a writer of its own: that of the first goes on.
      const own = { ROLE: 'api', PORT: String(await freePort()), PUBLIC_URL: scene.url };
      const other = await startService(parseConfig({ ...scene.environment, ...own }));
      const { database } = scene.service.parts;
      const waiting = () =>
        database.inTransaction('system', (tx) =>
          tx.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 20261122 AND NOT granted"),
        );
      const gate = new EventEmitter();
      const released = once(gate, 'release');
      const holding = once(gate, 'hold');
      const release = () => gate.emit('release');
      const held = database.inTransaction('system', async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock(20261122)');
        gate.emit('hold');
        await released;
      });
      try {
        await holding;
        const told = await stream(owner);
        await told.frame(({ event }) => event === 'position');
        const late = note(clientWith(other.url, owner.token, owner.clientId), 'held back');
        await expect.poll(async () => (await waiting()).length, { timeout: 60_000 }).toBe(1);
        const early = await note();
        const first = await told.frame(of(early));
        release();
        await held;
        const identity = await late;
        // It was accepted before: what follows ids or times would pass it over.
        expect(identity < early).toBe(true);
        const second = await told.frame(of(identity));
        expect(Number(second.id)).toBeGreaterThan(Number(first.id));
        const resumed = await stream(owner, `?cursor=${first.id}`);
        expect((await resumed.frame(of(identity))).id).toBe(second.id);
        expect(resumed.frames.filter(of(early))).toEqual([]);
        expect(told.frames.filter(of(identity))).toHaveLength(1);
      } finally {
        release();
        await held;
        await other.close();
        await scene.asOwner('DROP FUNCTION archivist.hold_back CASCADE');
      }
    },
    180_000,
  );

  it.skipIf(!serverUrl)('tells what another process has recorded and sealed', async () => {
    const { environment } = scene;
    const own = { ROLE: 'api', PORT: String(await freePort()), PUBLIC_URL: scene.url };
    const other = await startService(parseConfig({ ...environment, ...own }));
    try {
      const told = await stream(owner, '', {}, other.url);
      await told.frame(of(await note()));
      await told.close();
    } finally {
      await other.close();
    }
  });

  it('ends when the service stops', async () => {
    const told = await stream(owner);
    await told.frame(({ event }) => event === 'position');
    await scene.service.close();
    await told.ended;
  });
});

function ownTenancy(): string {
  const payload = JSON.parse(Buffer.from(owner.token.split('.')[1]!, 'base64url').toString()) as Record<string, string>;
  return payload['jit_tenant_id']!.slice('tenant/'.length);
}
