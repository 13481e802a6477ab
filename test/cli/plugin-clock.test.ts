import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { eventually, freshVcon, report } from '../plugins/plugin-rig.js';
import { killBuilt, startBuilt } from '../support/built-program.js';
import { embeddedDataDir } from '../support/engines.js';
import { faketimeLibrary } from '../support/prerequisites.js';

const LONG = 180_000;
/** Longer than two attempts of a delivery. */
const TRIED_MS = 5_000;
const NOTICED_WITHIN_MS = 60_000;

describe.skipIf(!faketimeLibrary)('vcon-archivist plugin with a wrong clock', { timeout: LONG }, () => {
  let service: TestService;
  let folder: string;
  beforeAll(async () => {
    service = await startTestService({ PLUGIN_PORT: '0' });
    folder = await mkdtemp(join(inject('runFolder'), 'plugin-clock-'));
  });
  afterAll(async () => {
    await killBuilt();
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('delivers nothing and says so until its clock agrees with the service’s, and records no time of that clock', async () => {
    const { clientId, clientSecret } = service.service.firstOwner!;
    const clock = join(folder, 'clock');
    await writeFile(clock, '+3600\n');
    const environment = {
      ...{ LD_PRELOAD: faketimeLibrary!, FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
      ...{ FAKETIME_CACHE_DURATION: '1', DATA_DIR: await embeddedDataDir(), PLUGIN_PORT: '0', PLUGIN_REPORTS: 'off' },
      ...{ ARCHIVIST_URL: service.url, ARCHIVIST_CLIENT_ID: clientId, ARCHIVIST_CLIENT_SECRET: clientSecret },
    };
    const plugin = startBuilt('cli/vcon-archivist', environment, ['plugin']);
    const [, url] = await plugin.says(/^The conserver plugin listens on (http:\S+),/m);
    const metric = async (name: string) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(new RegExp(`^conserver_link_${name} (\\S+)$`, 'm').exec(text)?.[1]);
    };

    const { subject } = await report(`${url}/operations/vcon_created?chain=main&link=first`, freshVcon());
    await wait(TRIED_MS);
    expect([await metric('clock_wrong'), await metric('queue_depth')]).toEqual([1, 1]);
    expect(Math.round((await metric('clock_offset_seconds')) / 60)).toBe(60);
    expect(plugin.written.out).toMatch(/(?:359\d|36\d\d) s ahead of the service's/);

    await writeFile(clock, '+0\n');
    await eventually(async () => (await metric('queue_depth')) === 0, NOTICED_WITHIN_MS);
    expect(await metric('clock_wrong')).toBe(0);
    const path = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(subject)}`;
    const events = (await service.owner.get(path)).json['events'] as { event_attributes: Record<string, string> }[];
    const created = events.filter(({ event_attributes: each }) => each['vcon_operation'] === 'vcon_created');
    expect(created.map(({ event_attributes: each }) => each['timestamp_observed'])).toEqual([undefined]);
  });
});
