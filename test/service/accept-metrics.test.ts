import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService, template } from '../api/test-service.js';

describe('accept metrics', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ PLUGIN_PORT: '0' });
  });
  afterAll(() => service.close());

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  }

  it('count what was accepted by kind, repeats apart, refusals not at all', async () => {
    const { owner } = service;
    const subject = 'vcon://0190a8c0-0000-7000-8000-0000000000aa';
    const asset = await owner.post('/archivist/v2/assets', { attributes: { subject } });
    const path = `/archivist/v2/${String(asset.json['identity'])}/events`;
    const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(subject) };
    await Promise.all(Array.from({ length: 5 }, () => owner.post(path, event)));
    for (const status of [200, 200]) {
      expect((await owner.post(path, event, { 'idempotency-key': 'one' })).status).toBe(status);
    }
    await owner.post('/archivist/v1/events', { attributes: { a: 'b' }, trails: ['t'] });
    expect((await owner.post(path, { ...event, operation: 'Unheard' })).status).toBe(400);

    expect(await metric('archivist_accepted_total{kind="asset"}')).toBe(1);
    expect(await metric('archivist_accepted_total{kind="asset_event"}')).toBe(6);
    expect(await metric('archivist_accepted_total{kind="asset_free_event"}')).toBe(1);
    expect(await metric('archivist_accepted_total{kind="earlier"}')).toBe(1);
    const [requests, batches] = [
      await metric('archivist_accept_batch_size_sum'),
      await metric('archivist_accept_batch_size_count'),
    ];
    expect(requests).toBe(9);
    expect(batches).toBeLessThanOrEqual(requests);
  });
});
