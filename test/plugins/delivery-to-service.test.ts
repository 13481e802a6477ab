import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE } from '../../plugins/operation/operation-job.js';
import { startConserverLink } from '../../plugins/start/start-conserver-link.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { unwatchedDisk } from '../support/unwatched-disk.js';
import { eventually, freshVcon, type OpenBackend, openBackend, report, silent } from './plugin-rig.js';

describe('delivery to the service itself', () => {
  let service: TestService;
  let open: OpenBackend;
  let link: Awaited<ReturnType<typeof startConserverLink>>;

  beforeAll(async () => {
    service = await startTestService();
    open = await openBackend('embedded');
    const { clientId, clientSecret } = service.service.firstOwner!;
    link = await startConserverLink({
      disk: unwatchedDisk(),
      settings: {
        ...{ archivistUrl: `${service.url}/archivist`, clientId, clientSecret, host: '127.0.0.1', port: 0 },
        reports: true,
      },
      keeps: { dataDir: open.folder, redisUrl: undefined },
      backend: open.backend,
      logger: silent,
      clock: { now: () => Date.now() },
    });
  });
  afterAll(async () => {
    await link.close();
    await open.close();
    await service.close();
  });

  const capture = async (body: string | Uint8Array, operation: string) => {
    const { job, subject } = await report(`${link.url}/operations/${operation}?chain=main&link=l`, body);
    const queue = open.backend.queue(OPERATION_QUEUE);
    await eventually(async () => ['completed', 'failed'].includes(await queue.getJobState(job)));
    expect((await queue.getJob(job))!.failedReason ?? 'delivered').toBe('delivered');
    return { job, subject };
  };
  const eventsOf = async (subject: string) => {
    const path = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(subject)}`;
    return (await service.owner.get(path)).json['events'] as {
      event_attributes: Record<string, string>;
      asset_identity: string;
    }[];
  };

  it('reports how its queue stands', async () => {
    const reports = async () => (await service.owner.get('/archivist/v1/capture_reports')).json['capture_reports'];
    await eventually(async () => ((await reports()) as unknown[]).length === 1);
    const { clientId } = service.service.firstOwner!;
    expect(await reports()).toMatchObject([{ application: `applications/${clientId}`, dead_letters: 0, gaps: [] }]);
  });

  it('records each operation once, all of a vCon on one asset, whatever form it has', async () => {
    const vcon = freshVcon({ created_at: '2024-03-16T15:35:16.334466' });
    const bodies = [
      vcon,
      readFileSync(new URL('../../fixtures/vcon/signed-call.vcon.json', import.meta.url)),
      'no vCon',
    ];
    for (const body of bodies) {
      const { subject } = await capture(body, 'vcon_created');
      await capture(body, 'vcon_enhanced');
      await capture(body, 'vcon_enhanced');
      const events = await eventsOf(subject);
      const names = events.map((event) => event.event_attributes['vcon_operation']).sort();
      expect(names).toEqual(['vcon_created', 'vcon_enhanced']);
      expect(new Set(events.map((event) => event.asset_identity)).size).toBe(1);
    }
  });

  it('stays with the first event when the queue has forgotten a delivered operation', async () => {
    const vcon = freshVcon();
    const { job, subject } = await capture(vcon, 'vcon_created');
    await (await open.backend.queue(OPERATION_QUEUE).getJob(job))!.remove();
    expect((await capture(vcon, 'vcon_created')).job).toBe(job);
    expect(await eventsOf(subject)).toHaveLength(1);
  });
});
