import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArchivistClient, createArchivistClient } from '../../plugins/archivist-client/archivist-client.js';
import { recordEnding } from '../../plugins/endings/record-ending.js';
import { fileMemory } from '../../plugins/memory/file-memory.js';
import type { Memory } from '../../plugins/memory/memory.js';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import { findCaptureGaps } from '../../plugins/tap/capture-gaps.js';
import { exchangeSubjects, openScene, type Scene } from '../api/policy-scene.js';
import { type Client, template } from '../api/test-service.js';
import { type OpenBackend, openBackend } from './plugin-rig.js';

const HOUR_MS = 3_600_000;

describe('events about a vCon that another organisation shares', () => {
  let scene: Scene;
  let partner: Client;
  let open: OpenBackend;
  let folder: string;
  let memory: Memory;
  let client: ArchivistClient;

  beforeAll(async () => {
    scene = await openScene();
    partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const us = await exchangeSubjects(partner, scene.owner);
    const everything = { asset_attributes_read: ['*'], event_arc_display_type_read: ['*'] };
    await scene.policy('vcon', { subjects: [us], ...everything }, partner);
    open = await openBackend('embedded');
    folder = await mkdtemp(join(tmpdir(), 'events-of-others-'));
    memory = fileMemory(folder);
    const { clientId, clientSecret } = scene.owner;
    client = createArchivistClient({ url: scene.url, clientId, clientSecret, clock: { now: () => Date.now() } });
  });
  afterAll(async () => {
    await memory?.close();
    await open?.close();
    await scene?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const eventsAbout = (uuid: string) => client.eventsAbout(`vcon://${uuid}`);
  /** An event as a plugin captures it, of this organisation. */
  async function captured(by: Client, uuid: string, payload: string, sequence: string): Promise<void> {
    const subject = `vcon://${uuid}`;
    const asset = await scene.asset({ arc_display_type: 'vcon', subject }, by);
    const capture = { payload, capture_method: 'link', capture_sequence: sequence };
    await scene.event(asset, { event_attributes: template(subject, capture) }, by);
  }
  const seen = async (uuid: string) => {
    const path = `/archivist/v2/assets/-/events?event_attributes.subject=vcon://${uuid}`;
    return (await scene.owner.get(path)).json['events'] as unknown[];
  };

  it('hide no gap, and those of the own tenancy behind many of them count', async () => {
    const [gap, recorded] = [randomUUID(), randomUUID()];
    await captured(partner, gap, 'b'.repeat(64), '9');
    await captured(scene.owner, recorded, 'a'.repeat(64), '1');
    for (let count = 0; count < 101; count++) await captured(partner, recorded, 'b'.repeat(64), '9');
    expect(await seen(gap)).toHaveLength(1);
    const now = Date.now();
    for (const uuid of [gap, recorded]) await memory.write('tap', uuid, { left: String(now - 2 * HOUR_MS) });
    const found = await findCaptureGaps(memory, now, eventsAbout);
    expect(found).toMatchObject({ leftWithoutEvent: [gap], eventWithoutLeaving: [] });
  });

  it('are not the last capture of a vCon that ended', async () => {
    const [own, foreign] = [randomUUID(), randomUUID()];
    await captured(scene.owner, own, 'a'.repeat(64), '1');
    for (const uuid of [own, foreign]) await captured(partner, uuid, 'b'.repeat(64), '9');
    expect(await seen(own)).toHaveLength(2);
    const parts = { backend: open.backend, memory, label: (name: string) => name, lastEvents: eventsAbout };
    const ended = (uuid: string) =>
      recordEnding(parts, {
        ending: 'vcon_deleted',
        uuid,
        storages: new Map(),
        observed: { atMs: Date.now(), sequence: '10' },
      });
    expect([await ended(own), await ended(foreign)]).toEqual(['recorded', 'unknown']);
    const jobs = await open.backend.queue(OPERATION_QUEUE).getJobs(['waiting']);
    expect(jobs.map((job) => (job.data as OperationJob).payload)).toEqual(['a'.repeat(64)]);
  });
});
