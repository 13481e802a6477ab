import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job, Queue } from 'bullmq';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerWithin } from '../../plugins/capture/answer-window.js';
import { createOperationMetrics } from '../../plugins/capture/capture-metrics.js';
import { type CaptureOperation, createCapture } from '../../plugins/capture/capture-operation.js';
import { HELD_MS } from '../../plugins/capture/held-operation.js';
import { openSpool } from '../../plugins/capture/spool.js';
import { spoolState } from '../../plugins/capture/spool-folder.js';
import { startDelivery } from '../../plugins/delivery/delivery-worker.js';
import { recordEnding } from '../../plugins/endings/record-ending.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { openMemory } from '../../plugins/memory/open-memory.js';
import { createCaptureSequence, type Observation, streamSequence } from '../../plugins/operation/capture-sequence.js';
import { consentChanges } from '../../plugins/operation/consent-changes.js';
import type { Ending, StorageAnswer } from '../../plugins/operation/ending.js';
import { namedOperation } from '../../plugins/operation/operation.js';
import type { EventAttributes } from '../../plugins/operation/operation-event.js';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import { recordedLabel } from '../../plugins/operation/recorded-labels.js';
import { vconFacts } from '../../plugins/operation/vcon-facts.js';
import type { QueueBackend } from '../../src/platform/queue/queue-backend.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';
import {
  ENGINES,
  eventually,
  freshVcon,
  type OpenBackend,
  openBackend,
  report,
  silent,
  startRig,
} from './plugin-rig.js';

const grant = (granted: boolean, purpose = 'recording') => ({
  type: 'lawful_basis',
  party: 0,
  body: { lawful_basis: 'consent', purpose_grants: [{ purpose, granted }] },
});

describe('the capture sequence', () => {
  it('rises with every operation, and sorts as text, also when the clock stands still or steps back', () => {
    const times = [1_000, 1_000, 999, 5, 1_001, 2_000];
    const next = createCaptureSequence({ now: () => times.shift()! });
    const sequences = Array.from({ length: 6 }, () => next().sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort());
  });

  it('does not follow a clock that is wrong, and rises all the same', () => {
    const times = [1_000, 99_000, 5, 1_001];
    const wrong = [false, true, true, false];
    const next = createCaptureSequence({ now: () => times.shift()! }, () => wrong.shift()!);
    const observed = Array.from({ length: 4 }, next);
    expect(observed.map(({ clockWrong = false }) => clockWrong)).toEqual([false, true, true, false]);
    const sequences = observed.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort());
    expect(sequences.map((each) => Number(each.split('-')[0]))).toEqual([1_000, 1_000, 1_000, 1_001]);
  });
});

describe.each(ENGINES)('capture, on %s', (engine) => {
  let open: OpenBackend;
  let memory: Memory;
  let capture: CaptureOperation;
  let doubles: string[];
  const observe = createCaptureSequence({ now: () => Date.now() });

  beforeAll(async () => {
    open = await openBackend(engine);
  });
  beforeEach(() => {
    doubles = [];
    memory = openMemory(
      { dataDir: open.folder, redisUrl: engine === 'Redis' ? ownRedisUrl('plugin') : undefined },
      silent,
    );
    const doubled = (operation: string) => void doubles.push(operation);
    capture = createCapture({
      ...{ backend: open.backend, memory, counted: () => undefined, doubled, passages: memory },
      ...{ withdrawn: new Set<string>(), logger: silent },
    }).capture;
  });
  afterEach(async () => {
    await memory.close();
    await open.empty();
  });
  afterAll(() => open.close());

  const see = async (vcon: string, operation = 'vcon_enhanced', method: 'receiver' | 'tracer' = 'receiver') =>
    capture({
      operation: namedOperation(operation, { chain: 'main', link: 'l' }),
      vcon: await vconFacts(Buffer.from(vcon)),
      method,
      observed: observe(),
    });
  const jobs = async () => {
    const found = await open.backend.queue(OPERATION_QUEUE).getJobs(['waiting']);
    return found
      .map((job) => job.data as OperationJob)
      .sort((a, b) => (a.attributes['capture_sequence']! < b.attributes['capture_sequence']! ? -1 : 1));
  };
  const operations = async () => (await jobs()).map(({ attributes }) => attributes['vcon_operation']);

  it('records that consent was given, revoked and given again, once each, however often it looks', async () => {
    const uuid = randomUUID();
    const vcon = (attachments: object[]) => freshVcon({ uuid, attachments });
    await see(vcon([]));
    for (const attachments of [[grant(true)], [grant(false)], [grant(true)]]) {
      await see(vcon(attachments));
      await see(vcon(attachments));
      const stored = attachments.map((each) => ({
        ...each,
        body: JSON.stringify(each.body).replace(/([:,])/g, '$1 '),
      }));
      await see(vcon(stored));
    }
    const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent'));
    expect(consents).toEqual(['vcon_consent_accepted', 'vcon_consent_revoked', 'vcon_consent_accepted']);
  });

  it('takes a consent that is gone for revoked, and one that grants more for accepted alone', async () => {
    const uuid = randomUUID();
    await see(freshVcon({ uuid, attachments: [grant(true)] }));
    await see(freshVcon({ uuid, attachments: [grant(true), grant(true, 'analysis')] }));
    await see(freshVcon({ uuid, attachments: [] }));
    const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent')).sort();
    const [accepted, revoked] = ['vcon_consent_accepted', 'vcon_consent_revoked'];
    expect(consents).toEqual([accepted, accepted, revoked, revoked]);
    expect(consentChanges([], [])).toEqual([]);
  });

  it('compares a vCon that continues another one with the consents of that one', async () => {
    const [original, amended, redacted] = [randomUUID(), randomUUID(), randomUUID()];
    await see(freshVcon({ uuid: original, attachments: [grant(true)] }));
    await see(freshVcon({ uuid: amended, amended: { uuid: original }, attachments: [grant(true)] }));
    await see(freshVcon({ uuid: redacted, redacted: { uuid: amended, type: 'pii' }, attachments: [] }));
    const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent'));
    expect(consents).toEqual(['vcon_consent_accepted', 'vcon_consent_revoked']);
  });

  it('takes a reported change of consent for the one that it sees', async () => {
    const uuid = randomUUID();
    await see(freshVcon({ uuid, attachments: [grant(true)] }), 'vcon_consent_accepted');
    await see(freshVcon({ uuid, attachments: [] }), 'vcon_consent_revoked');
    expect(await operations()).toEqual(['vcon_consent_accepted', 'vcon_consent_revoked']);
  });

  it.skipIf(engine === 'embedded')(
    'records a change of consent once, though two plugins see it at the same moment',
    async () => {
      const both = [capture, capturingWith({})];
      for (let count = 0; count < 10; count += 1) {
        const vcon = await vconFacts(Buffer.from(freshVcon({ attachments: [grant(true)] })));
        const seen = both.map((each, at) => {
          const operation = namedOperation('vcon_enhanced', { chain: 'main', link: `l${at}` });
          return each({ operation, vcon, method: 'receiver', observed: observe() });
        });
        await Promise.all(seen);
      }
      const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent'));
      expect(consents).toEqual(Array(10).fill('vcon_consent_accepted'));
    },
  );

  it('accepts no consent again that it saw before, by a state that it captures after a later one', async () => {
    const uuid = randomUUID();
    const ended = async (attachments: object[]) => ({
      operation: namedOperation('vcon_enhanced', { chain: 'main', link: 'l' }),
      vcon: await vconFacts(Buffer.from(freshVcon({ uuid, attachments }))),
      method: 'link' as const,
      observed: observe(),
    });
    await capture(await ended([grant(true)]));
    const waited = await ended([grant(true)]);
    await capture(await ended([]));
    await capture(waited);
    const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent'));
    expect(consents.sort()).toEqual(['vcon_consent_accepted', 'vcon_consent_revoked']);
  });

  it('revokes a consent of a state that it captures late where the newest state lacks it, also behind a signed one', async () => {
    const uuid = randomUUID();
    const ended = async (vcon: string, operation = 'vcon_enhanced') => ({
      operation: namedOperation(operation, { chain: 'main', link: 'l' }),
      vcon: await vconFacts(Buffer.from(vcon)),
      method: 'link' as const,
      observed: observe(),
    });
    const seen = async () => {
      const events = (await jobs()).filter(({ attributes }) =>
        attributes['vcon_operation']!.startsWith('vcon_consent'),
      );
      return events
        .map(({ attributes, payload }) => [attributes['vcon_operation'], attributes['capture_sequence'], payload])
        .sort();
    };
    const granted = await ended(freshVcon({ uuid, attachments: [grant(true)] }));
    const lacking = await ended(freshVcon({ uuid, attachments: [] }), 'vcon_sent');
    const payload = Buffer.from(freshVcon({ uuid })).toString('base64url');
    const signed = await ended(JSON.stringify({ payload, signatures: [{ header: { uuid } }] }));
    const regranted = await ended(freshVcon({ uuid, attachments: [grant(true, 'training')] }));
    await capture(lacking);
    await capture(signed);
    for (let count = 0; count < 2; count += 1) await capture(granted);
    const changes = [
      ['vcon_consent_accepted', granted.observed.sequence, granted.vcon.payload],
      ['vcon_consent_revoked', lacking.observed.sequence, lacking.vcon.payload],
    ];
    expect(await seen()).toEqual(changes);
    // Later than the newest state that shows consents, and older than a capture that shows none.
    const { payload: last } = await capture(
      await ended(JSON.stringify({ payload, signatures: [{ header: { uuid } }], n: 2 })),
    );
    await capture(regranted);
    expect((await memory.read('vcons', uuid))['payload']).toBe(last);
    await capture(await ended(freshVcon({ uuid, attachments: [] })));
    expect((await seen()).map(([operation]) => operation)).toEqual([
      ...['vcon_consent_accepted', 'vcon_consent_accepted', 'vcon_consent_revoked', 'vcon_consent_revoked'],
    ]);
  });

  it('compares with what a version before has remembered: a late state adds, and the next one revokes', async () => {
    const uuid = randomUUID();
    const ended = async (attachments: object[]) => ({
      operation: namedOperation('vcon_enhanced'),
      vcon: await vconFacts(Buffer.from(freshVcon({ uuid, attachments }))),
      method: 'link' as const,
      observed: observe(),
    });
    const late = await ended([grant(true)]);
    await capture(await ended([]));
    // The other version does not write what it does not know.
    const { sequence } = observe();
    await memory.write('vcons', uuid, { sequence, method: 'link', consents: '[]' });
    await capture(late);
    expect((await operations()).filter((name) => name === 'vcon_consent_revoked')).toEqual([]);
    await capture(await ended([]));
    const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent'));
    expect(consents).toEqual(['vcon_consent_accepted', 'vcon_consent_revoked']);
  });

  it('takes a change of consent that two links show at the same moment for one', async () => {
    const vcon = await vconFacts(Buffer.from(freshVcon({ attachments: [grant(true)] })));
    // As when another plugin has not remembered its own capture yet.
    const forgetful: Memory = { ...memory, read: async () => ({}) };
    for (const link of ['ask', 'sent']) {
      const parts = {
        backend: open.backend,
        memory: forgetful,
        passages: undefined,
        withdrawn: new Set<string>(),
        logger: silent,
      };
      const capturing = createCapture({ ...parts, counted: () => undefined, doubled: () => undefined }).capture;
      const operation = namedOperation('vcon_enhanced', { chain: 'main', link });
      await capturing({ operation, vcon, method: 'receiver', observed: observe() });
    }
    const consents = (await jobs()).filter(
      ({ attributes }) => attributes['vcon_operation'] === 'vcon_consent_accepted',
    );
    expect(consents.map(({ attributes }) => attributes['conserver_link_name'])).toEqual(['ask']);
  });

  it('takes nothing back by a state that it captures after a later one: no consent, and not the last hash', async () => {
    const uuid = randomUUID();
    const ended = async (method: 'receiver' | 'link', attachments: object[]) => ({
      operation: namedOperation('vcon_enhanced', { chain: 'main', link: 'l' }),
      vcon: await vconFacts(Buffer.from(freshVcon({ uuid, attachments }))),
      method,
      observed: observe(),
    });
    const both = [grant(true), grant(true, 'training')];
    for (const method of ['link', 'receiver'] as const) {
      await memory.forget('vcons', uuid);
      await open.empty();
      // The first two waited on disk, or in the stream.
      const waited = [await ended(method, [grant(true), grant(true, 'other')]), await ended(method, [grant(true)])];
      const last = await capture(await ended(method, both));
      for (const each of waited) await capture(each);
      expect(await memory.read('vcons', uuid)).toMatchObject({ payload: last.payload });
      const consents = (await operations()).filter((name) => name?.startsWith('vcon_consent'));
      // The last state lacks one that the first added.
      const revoked = (await jobs()).filter(
        ({ attributes }) => attributes['vcon_operation'] === 'vcon_consent_revoked',
      );
      expect([method, consents.length, revoked.map(({ payload }) => payload)]).toEqual([method, 4, [last.payload]]);
      await capture(await ended(method, both));
      expect((await operations()).filter((name) => name?.startsWith('vcon_consent'))).toHaveLength(4);
    }
  });

  it('compares what waited in the stream with what the receiver captured meanwhile: by one clock, and warily by two', async () => {
    const [uuid, atMs] = [randomUUID(), Date.now()];
    const asked = { isOpen: () => true, isRefused: () => false };
    const ended = async (method: 'receiver' | 'link', passedMs: number, attachments: object[], aheadMs = 0) => ({
      operation: namedOperation('vcon_enhanced', { chain: 'main', link: 'l' }),
      vcon: await vconFacts(Buffer.from(freshVcon({ uuid, attachments }))),
      method,
      observed: { atMs, sequence: streamSequence(atMs + passedMs + aheadMs, 0), aheadMs },
    });
    const state = async () => {
      const { payload } = await memory.read('vcons', uuid);
      return { payload, revoked: (await operations()).filter((name) => name === 'vcon_consent_revoked').length };
    };
    const posted = await capture(await ended('receiver', 0, [grant(true)]), asked);
    for (const aheadMs of [0, 60_000, -60_000]) await capture(await ended('link', -100, [], aheadMs));
    expect(await state()).toEqual({ payload: posted.payload, revoked: 0 });
    // The id of the entry does not tell the order.
    const unknown = await ended('link', 60_000, []);
    await capture({ ...unknown, observed: { ...unknown.observed, clockWrong: true, timeUnknown: true } });
    expect(await state()).toEqual({ payload: posted.payload, revoked: 0 });
    // Another process that shares the memory may have another clock.
    await capturingWith({})(await ended('link', 4_000, []));
    expect(await state()).toEqual({ payload: posted.payload, revoked: 0 });
    const linked = await capture(await ended('link', 100, [], 60_000));
    expect(await state()).toEqual({ payload: linked.payload, revoked: 1 });
    await capture(await ended('receiver', 200, [grant(true)]), asked);
    const other = await capturingWith({})(await ended('link', 6_000, []));
    expect(await state()).toEqual({ payload: other.payload, revoked: 2 });
    // The clock of the conserver's Redis differs from ours, and always has.
    await capture(await ended('receiver', 6_100, [grant(true)]), asked);
    const differing = await ended('link', 6_200, [], 60_000);
    const linkedAgain = await capture({ ...differing, observed: { ...differing.observed, clockWrong: true } });
    expect(await state()).toEqual({ payload: linkedAgain.payload, revoked: 3 });
  });

  it('takes what waited on this disk for the later state if a clock was wrong when it was captured', async () => {
    const [uuid, atMs] = [randomUUID(), Date.now()];
    const ended = async (n: number, observed: Observation) => ({
      operation: namedOperation('vcon_enhanced'),
      vcon: await vconFacts(Buffer.from(freshVcon({ uuid, n }))),
      method: 'receiver' as const,
      observed,
    });
    await capture(await ended(1, { atMs, sequence: streamSequence(atMs, 0) }));
    // A plugin that starts with a wrong clock counts from nothing.
    const later = await capture(await ended(2, { atMs: 1, sequence: streamSequence(0, 1), clockWrong: true }));
    expect((await memory.read('vcons', uuid))['payload']).toBe(later.payload);
  });

  it('compares captures of two plugins by the clock of the conserver’s Redis, whatever theirs show', async () => {
    const [uuid, atMs] = [randomUUID(), Date.now()];
    const asked = { isOpen: () => true, isRefused: () => false };
    /** A plugin whose own clock is so far behind that Redis's. */
    const behind = (aheadMs: number) => capturingWith({}, new Set(), () => aheadMs);
    const ended = async (method: 'receiver' | 'link', passedMs: number, attachments: object[], aheadMs = 0) => ({
      operation: namedOperation('vcon_enhanced', { chain: 'main', link: 'l' }),
      vcon: await vconFacts(Buffer.from(freshVcon({ uuid, attachments }))),
      method,
      observed: { atMs, sequence: streamSequence(atMs + passedMs, 0), aheadMs },
    });
    const payload = async () => (await memory.read('vcons', uuid))['payload'];
    const posted = await behind(2_000)(await ended('receiver', 0, [grant(true)]), asked);
    await behind(-1_000)(await ended('link', 1_900, [], -1_000));
    expect(await payload()).toBe(posted.payload);
    const linked = await behind(-1_000)(await ended('link', 2_100, [], -1_000));
    expect(await payload()).toBe(linked.payload);
    expect((await operations()).filter((name) => name === 'vcon_consent_revoked')).toHaveLength(1);
  });

  it('names the first vCon of a history in every event, so that one query tells it', async () => {
    const [original, amended, redacted] = [randomUUID(), randomUUID(), randomUUID()];
    await see(freshVcon({ uuid: original }), 'vcon_created');
    await see(freshVcon({ uuid: amended, amended: { uuid: original } }), 'amended');
    await see(freshVcon({ uuid: redacted, redacted: { uuid: amended, type: 'pii' } }), 'redacted');
    await end('vcon_expired', redacted);
    const events = await jobs();
    expect(events.map(({ attributes }) => attributes['vcon_history'])).toEqual(Array(4).fill(`vcon://${original}`));
    expect(events[1]!.attributes).toMatchObject({ vcon_operation: 'vcon_enhanced', vcon_amends: `vcon://${original}` });
    expect(events[2]!.attributes).toMatchObject({
      vcon_operation: 'vcon_party_redacted',
      vcon_redacts: `vcon://${amended}`,
    });
  });

  it('knows what a signed vCon redacts from its payload: it has the same history, and leaves in place of the other', async () => {
    const [original, redacted] = [randomUUID(), randomUUID()];
    const payload = freshVcon({ uuid: redacted, redacted: { uuid: original } });
    const header = { header: { uuid: redacted }, protected: '', signature: '' };
    await see(freshVcon({ uuid: original }), 'vcon_created');
    await see(
      JSON.stringify({ payload: Buffer.from(payload).toString('base64url'), signatures: [header] }),
      'redacted',
    );
    expect((await jobs())[1]!.attributes).toMatchObject({
      vcon_form: 'signed',
      vcon_redacts: `vcon://${original}`,
      vcon_history: `vcon://${original}`,
    });
    expect(await memory.read('tap', original)).toHaveProperty('continued');
  });

  it('names the first vCon of a history as soon as it is known, also of one that was captured before its predecessor', async () => {
    const [original, amended, redacted] = [randomUUID(), randomUUID(), randomUUID()];
    const redaction = freshVcon({ uuid: redacted, redacted: { uuid: amended, type: 'pii' } });
    await see(redaction, 'redacted');
    await see(freshVcon({ uuid: original }), 'vcon_created');
    await see(freshVcon({ uuid: amended, amended: { uuid: original } }), 'amended');
    await see(redaction, 'vcon_sent');
    await end('vcon_expired', redacted);
    const histories = (await jobs()).map(({ attributes }) => attributes['vcon_history']);
    expect(histories).toEqual([`vcon://${amended}`, ...Array(4).fill(`vcon://${original}`)]);
  });

  let served: EventAttributes[] = [];
  const end = (ending: Ending, uuid: string, storages: Record<string, StorageAnswer> = {}) =>
    recordEnding(
      { backend: open.backend, memory, label: (name) => recordedLabel(name, 'secret'), lastEvents: async () => served },
      { ending, uuid, storages: new Map(Object.entries(storages)), observed: observe() },
    );

  it('records the end of a vCon with its last hash, once, and none of a vCon that it never saw', async () => {
    const uuid = randomUUID();
    await see(freshVcon({ uuid }), 'vcon_created');
    const last = await see(freshVcon({ uuid, n: 2 }));
    const storages = { postgres: 'gone', 'my s3': 'gone', crm: 'not_asked' } as const;
    expect([await end('vcon_deleted', uuid, storages), await end('vcon_deleted', uuid)]).toEqual([
      'recorded',
      'recorded',
    ]);
    expect(await end('vcon_deleted', randomUUID())).toBe('unknown');
    const events = await jobs();
    expect(events).toHaveLength(3);
    const attributes = {
      vcon_operation: 'vcon_deleted',
      capture_method: 'storages',
      storages_without_vcon: 'my%20s3 postgres',
      storages_not_asked: 'crm',
    };
    expect(events[2]).toMatchObject({ payload: last.payload, attributes });
    expect(Object.keys(events[2]!.attributes)).not.toContain('storages_with_vcon');
  });

  it('records that a vCon is back after its end, also by the same operation on the same bytes', async () => {
    const uuid = randomUUID();
    const vcon = freshVcon({ uuid });
    const first = await see(vcon, 'vcon_created');
    expect((await see(vcon, 'vcon_created')).job).toBe(first.job);
    await end('vcon_deleted', uuid);
    const again = await see(vcon, 'vcon_created');
    expect(again.job).not.toBe(first.job);
    expect(await operations()).toEqual(['vcon_created', 'vcon_deleted', 'vcon_created']);
    expect(await end('vcon_deleted', uuid)).toBe('recorded');
    expect(await operations()).toHaveLength(4);
  });

  it('takes an operation after an end that is captured once more for the same, also behind another and after a second end', async () => {
    const uuid = randomUUID();
    const [vcon, next] = [freshVcon({ uuid }), freshVcon({ uuid, n: 2 })];
    await see(vcon, 'vcon_created');
    await end('vcon_deleted', uuid);
    const back = await see(next, 'vcon_created');
    expect((await see(next, 'vcon_created')).job).toBe(back.job);
    await see(next, 'vcon_sent');
    expect((await see(next, 'vcon_created')).job).toBe(back.job);
    await end('vcon_expired', uuid);
    const again = await see(next, 'vcon_created');
    expect(again.job).not.toBe(back.job);
    expect((await see(next, 'vcon_created')).job).toBe(again.job);
    expect((await operations()).sort()).toEqual([
      ...['vcon_created', 'vcon_created', 'vcon_created'],
      ...['vcon_deleted', 'vcon_expired', 'vcon_sent'],
    ]);
  });

  it('takes an entry of the stream after an end for the same when a plugin was killed and another one takes it late', async () => {
    const uuid = randomUUID();
    const facts = await vconFacts(Buffer.from(freshVcon({ uuid })));
    const entry = (atMs: number, operation: string) => ({
      ...{ operation: namedOperation(operation), vcon: facts, method: 'link' as const },
      observed: { atMs, sequence: streamSequence(atMs, 0), aheadMs: 0 },
    });
    const started = Date.now();
    await capture(entry(started - 3_000, 'vcon_created'));
    await end('vcon_deleted', uuid);
    const taken = entry(started - 2_000, 'vcon_created');
    const { job } = await capture(taken);
    expect((await capture(taken)).job).toBe(job);
    await capture(entry(started - 1_000, 'vcon_sent'));
    expect((await capture(taken)).job).toBe(job);
  });

  it('takes an entry that a restored Redis gives out once more after the end of its vCon for the same', async () => {
    const [uuid, atMs] = [randomUUID(), Date.now() - 20_000];
    const vcon = await vconFacts(Buffer.from(freshVcon({ uuid })));
    const observed = { atMs, sequence: streamSequence(atMs, 0), aheadMs: 0 };
    const entry = { operation: namedOperation('vcon_created'), vcon, method: 'link' as const, observed };
    const { job } = await capture(entry);
    await end('vcon_deleted', uuid);
    expect((await capture(entry)).job).toBe(job);
    expect((await operations()).sort()).toEqual(['vcon_created', 'vcon_deleted']);
  });

  it('ends a vCon in one way only, until it is captured again; an incomplete deletion may still be completed', async () => {
    const uuid = randomUUID();
    await see(freshVcon({ uuid }), 'vcon_created');
    const incomplete = () => end('vcon_deletion_incomplete', uuid, { mongo: 'held', s3: 'failed' });
    expect([await incomplete(), await incomplete()]).toEqual(['recorded', 'recorded']);
    expect(await end('vcon_deletion_incomplete', uuid, { s3: 'failed' })).toBe('recorded');
    expect([await end('vcon_deleted', uuid), await end('vcon_expired', uuid)]).toEqual(['recorded', 'ended before']);
    expect(await incomplete()).toBe('ended before');
    const named = (await jobs()).filter(({ attributes }) => attributes['storages_failed'] !== undefined);
    expect(named.map(({ attributes }) => attributes['storages_with_vcon'])).toEqual(['mongo', undefined]);
    await see(freshVcon({ uuid, n: 2 }));
    expect(await end('vcon_expired', uuid)).toBe('recorded');
    expect(await operations()).toEqual([
      'vcon_created',
      'vcon_deletion_incomplete',
      'vcon_deletion_incomplete',
      'vcon_deleted',
      'vcon_enhanced',
      'vcon_expired',
    ]);
  });

  it('asks the service for the last hash of a vCon that it has forgotten', async () => {
    const uuid = randomUUID();
    await see(freshVcon({ uuid }), 'vcon_created');
    const last = await see(freshVcon({ uuid, n: 2 }), 'vcon_enhanced', 'tracer');
    await memory.forget('vcons', uuid);
    served = (await jobs()).map(({ attributes }) => attributes);
    expect(await end('vcon_deletion_incomplete', uuid, { '+1 555 0100123': 'held' })).toBe('recorded');
    served = (await jobs()).map(({ attributes }) => attributes);
    expect(await end('vcon_deleted', uuid)).toBe('recorded');
    served = (await jobs()).map(({ attributes }) => attributes);
    expect([await end('vcon_deleted', uuid), await end('vcon_expired', uuid)]).toEqual(['recorded', 'ended before']);
    const [, , incomplete, ended] = await jobs();
    expect(await jobs()).toHaveLength(4);
    expect([incomplete!.payload, ended!.payload]).toEqual([last.payload, last.payload]);
    expect(incomplete!.attributes['storages_with_vcon']).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    served = [{ payload: last.payload, capture_sequence: '9' }, { capture_method: 'receiver' }];
    expect(await end('vcon_deleted', randomUUID())).toBe('unknown');
    served = [];
  });

  it('records the end of a vCon in the log of the tenancy that it was captured for', async () => {
    const [north, own] = [randomUUID(), randomUUID()];
    for (const [uuid, tenancy] of [[north, 'north'] as const, [own, undefined] as const])
      await capture({
        operation: namedOperation('vcon_created', { tenancy }),
        vcon: await vconFacts(Buffer.from(freshVcon({ uuid }))),
        method: 'receiver',
        observed: observe(),
      });
    for (const uuid of [north, own]) await end('vcon_deleted', uuid);
    const ends = (await jobs()).filter(({ attributes }) => attributes['vcon_operation'] === 'vcon_deleted');
    expect(ends.map(({ subject, tenancy }) => [subject, tenancy])).toEqual([
      [`vcon://${north}`, 'north'],
      [`vcon://${own}`, undefined],
    ]);
  });

  it('records the end of a vCon in the tenancy of its newest state, also if that is the plugin’s own', async () => {
    const uuid = randomUUID();
    const vcon = await vconFacts(Buffer.from(freshVcon({ uuid })));
    const atMs = Date.now() - 20_000;
    const entry = (tenancy: string | undefined, laterMs: number) =>
      capture({
        operation: namedOperation('vcon_enhanced', { tenancy }),
        vcon,
        method: 'link',
        observed: { atMs: atMs + laterMs, sequence: streamSequence(atMs + laterMs, 0), aheadMs: 0 },
      });
    await entry('north', 0);
    await entry(undefined, 2_000);
    await entry('south', 1_000);
    await end('vcon_deleted', uuid);
    const ended = (await jobs()).find(({ attributes }) => attributes['vcon_operation'] === 'vcon_deleted');
    expect(ended).not.toHaveProperty('tenancy');
  });

  it('notices when a second method captures the same operation', async () => {
    // Another test file may have left some in the same Redis.
    await memory.forget('doubles', 'vcon_sent');
    const vcon = freshVcon();
    await see(vcon, 'vcon_sent');
    await see(vcon, 'vcon_sent');
    expect(doubles).toEqual([]);
    await see(vcon, 'vcon_sent', 'tracer');
    expect(doubles).toEqual(['vcon_sent']);
    expect(Object.keys(await memory.read('doubles', 'vcon_sent'))).toEqual(['receiver and tracer']);
  });

  it('notices it also where the tracer has only the common word for the operation', async () => {
    const vcon = freshVcon();
    await see(vcon, 'vcon_enhanced', 'tracer');
    await see(vcon, 'summarised');
    await see(freshVcon(), 'transcribed');
    expect(doubles).toEqual(['vcon_enhanced']);
  });

  it('remembers fields by name, takes single ones away, and lists and forgets names', async () => {
    const name = `../${randomUUID()}/é`;
    await memory.write('gaps', name, { a: '1', b: '2' });
    await memory.write('gaps', name, { a: null, c: '3' });
    expect(await memory.read('gaps', name)).toEqual({ b: '2', c: '3' });
    const names = async () => {
      const found: string[] = [];
      for await (const each of memory.names('gaps')) found.push(each);
      return found;
    };
    expect(await names()).toContain(name);
    await memory.forget('gaps', name);
    expect(await memory.read('gaps', name)).toEqual({});
    expect(await names()).not.toContain(name);
  });

  it('keeps on this disk what the queue does not take, and hands it over in order when it does, times that are wrong as such', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spool-'));
    let away = true;
    const order: string[] = [];
    const flaky: CaptureOperation = async (ended) => {
      if (away) throw new Error('away');
      order.push(ended.observed.sequence);
      return capture(ended);
    };
    const ended = async (vcon: string, more: { clockWrong?: true } = {}) => ({
      operation: namedOperation('vcon_sent'),
      vcon: await vconFacts(Buffer.from(vcon)),
      method: 'receiver' as const,
      observed: { ...observe(), ...more },
    });
    const first = openSpool(folder, flaky, unwatchedDisk(), silent);
    const kept = [
      await first.keep(await ended(freshVcon())),
      await first.keep(await ended(freshVcon(), { clockWrong: true })),
    ];
    await first.close();
    // Another process, after a crash.
    const spool = openSpool(folder, flaky, unwatchedDisk(), silent);
    await writeFile(join(folder, `${observe().sequence}-x.operation`), '{"operation": ');
    await mkdir(join(folder, `0-${randomUUID()}-y.operation`));
    const typed = { operation: { name: 'vcon_sent' }, vcon: { payload: 'a'.repeat(64), uuid: 5 }, method: 'link' };
    const odd = { ...typed, observed: { atMs: 1e300, sequence: '0' } };
    await writeFile(join(folder, `0-${randomUUID()}-z.operation`), JSON.stringify(odd));
    expect((await spoolState(folder, Date.now() + 60_000)).depth).toBe(5);
    expect((await spoolState(folder, Date.now() + 60_000)).oldestSeconds).toBeGreaterThan(59);
    away = false;
    await eventually(async () => (await spoolState(folder, Date.now())).depth === 0);
    await spool.close();
    const unusable = (await spoolState(folder, Date.now())).setAside;
    expect(unusable.map((file) => file.slice(-9)).sort()).toEqual(['x.refused', 'y.refused', 'z.refused']);
    for (const file of unusable) await rm(join(folder, file), { recursive: true });
    expect(order).toEqual([...order].sort());
    const times = kept.map(async ({ job }) => {
      const { data } = (await open.backend.queue(OPERATION_QUEUE).getJob(job)) as Job<OperationJob>;
      return data.attributes['timestamp_observed'];
    });
    expect(await Promise.all(times)).toEqual([expect.any(String), undefined]);
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });

  it('leaves nothing on this disk of what it has refused meanwhile', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spool-'));
    const spool = openSpool(folder, () => Promise.reject(new Error('away')), unwatchedDisk(), silent);
    const vcon = await vconFacts(Buffer.from(freshVcon()));
    const ended = { operation: namedOperation('vcon_sent'), vcon, method: 'receiver' as const, observed: observe() };
    const refused = { isOpen: () => false, isRefused: () => true };
    await expect(spool.keep(ended, refused)).rejects.toThrow('this disk did not keep it in time');
    expect([await readdir(folder), await spool.isWaiting()]).toEqual([[], false]);
    await spool.keep(ended);
    expect(await spool.isWaiting()).toBe(true);
    await spool.close();
    await rm(folder, { recursive: true });
  });

  it('shows how old what waits on this disk is by right times only: not what a wrong clock took, and nothing by one', async () => {
    const never = { ...open.backend, confirmDurable: () => Promise.reject(new Error('no disk')) };
    let wrong = true;
    const rig = await startRig(never, { settings: { failOpen: true }, clockIsWrong: () => wrong });
    const oldest = async () => {
      const text = await (await fetch(`${rig.url}/metrics`)).text();
      return Number(/^conserver_link_spool_oldest_seconds (\S+)$/m.exec(text)![1]);
    };
    try {
      await report(`${rig.url}/operations/vcon_sent`, freshVcon());
      wrong = false;
      expect(await oldest()).toBe(0);
      await report(`${rig.url}/operations/vcon_sent`, freshVcon());
      await eventually(async () => (await oldest()) > 0);
      expect(await oldest()).toBeLessThan(3_600);
      wrong = true;
      expect(await oldest()).toBeNaN();
    } finally {
      await rig.close();
    }
  });

  /** Longer than any machine takes. */
  const PATIENT = { finalMs: 30_000, answerMs: 60_000 };
  /** A capture through a backend that is changed. */
  const capturingWith = (
    changed: Partial<QueueBackend>,
    withdrawn = new Set<string>(),
    conserverAheadMs: () => number | undefined = () => undefined,
  ) => {
    const parts = { backend: { ...open.backend, ...changed }, memory, passages: undefined, withdrawn, logger: silent };
    return createCapture({ ...parts, conserverAheadMs, counted: () => undefined, doubled: () => undefined }).capture;
  };
  /** As the receiver does. */
  const receiveWith = async (capturing: CaptureOperation, vcon: string, limits = PATIENT) => {
    const [operation, facts] = [namedOperation('vcon_created'), await vconFacts(Buffer.from(vcon))];
    const ended = { operation, vcon: facts, method: 'receiver' as const, observed: observe() };
    return answerWithin(limits, (window) => capturing(ended, window), 'too late');
  };
  const receive = async (changed: Partial<QueueBackend>, vcon: string, limits = PATIENT) => {
    const withdrawn = new Set<string>();
    return receiveWith(capturingWith(changed, withdrawn), vcon, limits).finally(() => {
      expect(withdrawn.size).toBeLessThan(3);
    });
  };
  const inQueue = () =>
    open.backend.queue(OPERATION_QUEUE).getJobCountByTypes('waiting', 'delayed', 'active', 'failed');

  it('leaves nothing in the queue of what it has refused: not durable, or too late', async () => {
    const consenting = freshVcon({ attachments: [grant(true)] });
    const failing = { confirmDurable: () => Promise.reject(new Error('no disk')) };
    await expect(receive(failing, consenting)).rejects.toThrow('no disk');
    expect(await inQueue()).toBe(0);
    const slow = { confirmDurable: () => new Promise<void>((resolve) => setTimeout(resolve, 500)) };
    await expect(receive(slow, consenting, { finalMs: 100, answerMs: 300 })).rejects.toThrow('too late');
    await eventually(async () => (await inQueue()) === 0);
    // What was refused may be captured later, with the consent that it carries.
    await receive({}, consenting);
    expect((await operations()).sort()).toEqual(['vcon_consent_accepted', 'vcon_created']);
  });

  /** The queue releases a job, and answers only after `answered`. */
  const slowRelease = (answered: () => Promise<unknown>): Pick<QueueBackend, 'queue'> => ({
    queue: (name) =>
      new Proxy<Queue>(open.backend.queue(name), {
        get(target, member) {
          if (member !== 'getJob') return Reflect.get(target, member);
          return async (id: string) => {
            const job = (await target.getJob(id)) as Job | undefined;
            const promote = job?.promote.bind(job);
            if (job && promote)
              job.promote = async () => {
                await promote();
                await answered();
              };
            return job;
          };
        },
      }),
  });

  it('takes an operation out again whose release was not answered in time, and never one that it had accepted', async () => {
    const vcon = freshVcon();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const late = receive(
      slowRelease(() => answered),
      vcon,
      { finalMs: 1_500, answerMs: 2_000 },
    );
    await expect(late).rejects.toThrow('too late');
    expect(await inQueue()).toBe(1);
    answer();
    await eventually(async () => (await inQueue()) === 0);
    await receive({}, vcon);
    const failing = { confirmDurable: () => Promise.reject(new Error('no disk')) };
    await expect(receive(failing, vcon)).rejects.toThrow('no disk');
    expect(await operations()).toEqual(['vcon_created']);
  });

  it('delivers nothing that was refused and that the queue still has', async () => {
    const { job } = await see(freshVcon());
    const asked: (string | undefined)[] = [];
    const clients = (tenancy: string | undefined): never => {
      asked.push(tenancy);
      throw new Error('no operation is delivered here');
    };
    const metrics = createOperationMetrics(new Registry());
    const common = { backend: open.backend, clients, metrics, logger: silent, random: () => 0 };
    const delivery = startDelivery({ ...common, clockIsWrong: () => false, withdrawn: new Set([job]) });
    const state = () => open.backend.queue(OPERATION_QUEUE).getJobState(job);
    await eventually(async () => !['waiting', 'active'].includes(await state()));
    await delivery.close();
    expect([await state(), asked]).toEqual(['failed', []]);
  });

  it('leaves an accepted operation in the queue whose retry waits as long as one that is held', async () => {
    const vcon = freshVcon();
    await receive({}, vcon);
    const away = () => Promise.reject(new Error('retry after 300 s'));
    const worker = open.backend.worker(OPERATION_QUEUE, away, { settings: { backoffStrategy: () => HELD_MS } });
    const queue = open.backend.queue(OPERATION_QUEUE);
    await eventually(async () => (await queue.getJobCountByTypes('delayed')) === 1);
    await worker.close();
    const failing = { confirmDurable: () => Promise.reject(new Error('no disk')) };
    await expect(receive(failing, vcon)).rejects.toThrow('no disk');
    expect(await queue.getJobCountByTypes('delayed', 'waiting')).toBe(1);
  });

  const created = async () => ({
    operation: namedOperation('vcon_created'),
    vcon: await vconFacts(Buffer.from(freshVcon())),
    method: 'receiver' as const,
    observed: observe(),
  });

  it('accepts an operation again that was delivered before its refusal could take it out', async () => {
    const queue = open.backend.queue(OPERATION_QUEUE);
    const isDelivered = async () => (await queue.getJobCountByTypes('completed')) === 1;
    const worker = open.backend.worker(OPERATION_QUEUE, async () => 'delivered');
    let refused = false;
    const late = slowRelease(async () => {
      await eventually(isDelivered);
      refused = true;
    });
    const capturing = capturingWith(late);
    const ended = await created();
    const window = { isOpen: () => true, isRefused: () => refused };
    await expect(capturing(ended, window)).rejects.toThrow('in time');
    await capturing(ended);
    expect([await isDelivered(), await inQueue()]).toEqual([true, 0]);
    await worker.close();
  });

  it('accepts nothing that another plugin has taken out of the queue meanwhile', async () => {
    const ended = await created();
    const window = { isOpen: () => true, isRefused: () => false };
    let refuse = () => {};
    const both = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    const undurable = () => both.then(() => Promise.reject(new Error('no disk')));
    const refused = capturingWith({ confirmDurable: undurable })(ended, window);
    await eventually(async () => (await inQueue()) === 1);
    const confirmDurable = async () => {
      refuse();
      await expect(refused).rejects.toThrow('no disk');
    };
    await expect(capturingWith({ confirmDurable })(ended, window)).rejects.toThrow('out of the queue');
    await capturingWith({})(ended, window);
    expect(await operations()).toEqual(['vcon_created']);
  });

  it('delivers an operation that is captured again after nothing could take its refused one out', async () => {
    const withdrawn = new Set<string>();
    const capturing = capturingWith({}, withdrawn);
    const ended = await created();
    const { job } = await capturing(ended);
    // As after five minutes without an answer of the queue.
    withdrawn.add(job);
    await capturing(ended);
    expect([...withdrawn]).toEqual([]);
  });

  it('keeps what it has accepted when the memory fails afterwards', async () => {
    const vcon = freshVcon();
    const dying: Memory = { ...memory, write: () => Promise.reject(new Error('the memory does not answer')) };
    const parts = {
      backend: open.backend,
      memory: dying,
      passages: dying,
      withdrawn: new Set<string>(),
      logger: silent,
    };
    const capturing = createCapture({ ...parts, counted: () => undefined, doubled: () => undefined });
    await receiveWith(capturing.capture, vcon);
    expect(await operations()).toEqual(['vcon_created']);
    await capturing.close();
  });
});
