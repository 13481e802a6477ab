import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { startConserverLink } from '../../plugins/start/start-conserver-link.js';
import { exchangeSubjects, forClient, listed, openScene, type Scene } from '../api/policy-scene.js';
import type { Client } from '../api/test-service.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';
import { eventually, freshVcon, type OpenBackend, openBackend, report, silent } from './plugin-rig.js';

const EVERYTHING = { asset_attributes_read: ['*'], event_arc_display_type_read: ['*'] };

describe.each([
  ['event by event', false],
  ['in bulk requests', true],
])('the asset on which a vCon is recorded, %s', (_, bulk) => {
  let scene: Scene;
  let partner: Client;
  let open: OpenBackend;

  beforeAll(async () => {
    scene = await openScene();
    partner = await scene.client({ roles: ['OWNER'], otherTenancy: true });
    const us = await exchangeSubjects(partner, scene.owner);
    await scene.policy('vcon', { subjects: [us], ...EVERYTHING }, partner);
    open = await openBackend('embedded');
  });
  afterAll(async () => {
    await open?.close();
    await scene?.close();
  });

  const ofVcon = (subject: string) => ({ arc_display_type: 'vcon', arc_display_name: subject, subject });
  const vconOf = (uuid: string) => [freshVcon({ uuid }), `vcon://${uuid}`] as const;

  /** The asset on which a plugin that has just started records the vCon. */
  async function recordedOn(client: Client, vcon: string, operation: string): Promise<string> {
    const { clientId, clientSecret } = client;
    const link = await startConserverLink({
      disk: unwatchedDisk(),
      settings: {
        ...{ archivistUrl: `${scene.url}/archivist`, clientId, clientSecret, host: '127.0.0.1', port: 0 },
        bulk,
      },
      keeps: { dataDir: open.folder, redisUrl: undefined },
      backend: open.backend,
      logger: silent,
      clock: { now: () => Date.now() },
      pace: { firstMs: 20, mostMs: 100 },
    });
    try {
      const { job } = await report(`${link.url}/operations/${operation}?chain=main&link=l`, vcon);
      const queue = open.backend.queue(OPERATION_QUEUE);
      await eventually(async () => ['completed', 'failed'].includes(await queue.getJobState(job)), 10_000);
      const { failedReason, returnvalue } = (await queue.getJob(job))!;
      expect(failedReason ?? 'delivered').toBe('delivered');
      return String(returnvalue).replace(/\/events\/.*$/, '');
    } finally {
      await link.close();
    }
  }
  const assetsSeen = (subject: string) =>
    listed(scene.owner, `/archivist/v2/assets?attributes.subject=${encodeURIComponent(subject)}`);

  it('is one of the plugin’s own tenancy, whatever other organisations share, also after a restart', async () => {
    const [vcon, subject] = vconOf(randomUUID());
    const shared = await scene.asset(ofVcon(subject), partner);
    expect(await assetsSeen(subject)).toEqual([shared]);
    const own = await recordedOn(scene.owner, vcon, 'vcon_created');
    const later = await scene.asset(ofVcon(subject), partner);
    expect(await assetsSeen(subject)).toEqual([later, own, shared]);
    expect(await recordedOn(scene.owner, vcon, 'vcon_sent')).toBe(own);
  });

  it('is found behind a page of those that another organisation shares', async () => {
    const [vcon, subject] = vconOf(randomUUID());
    // Made without the plugin's idempotency key: creating it again would not find it.
    const own = await scene.asset(ofVcon(subject));
    for (let count = 0; count < 101; count++) await scene.asset(ofVcon(subject), partner);
    expect(await recordedOn(scene.owner, vcon, 'vcon_created')).toBe(own);
  });

  it('is neither public nor of another kind, even if it has the vCon’s subject', async () => {
    const [vcon, subject] = vconOf(randomUUID());
    const made = await scene.owner.post('/archivist/v2/assets', { attributes: ofVcon(subject), public: true });
    const other = await scene.asset({ ...ofVcon(subject), arc_display_type: 'Conversation' });
    const own = await recordedOn(scene.owner, vcon, 'vcon_created');
    expect([made.json['identity'], other]).not.toContain(own);
    expect((await scene.owner.get(`/archivist/v2/${own}`)).json).toMatchObject({ public: false });
  });

  it('is the application’s own, if that of another application may only be read', async () => {
    const reader = await scene.client({});
    await scene.policy('vcon', forClient(reader, EVERYTHING));
    const [vcon, subject] = vconOf(randomUUID());
    const foreign = await scene.asset(ofVcon(subject));
    const own = await recordedOn(reader, vcon, 'vcon_created');
    expect(own).not.toBe(foreign);
    expect(await recordedOn(reader, vcon, 'vcon_sent')).toBe(own);
  });
});
