import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../faults/journal.js';
import { type Answer, startTestService, type TestService } from './test-service.js';

const BUDGET = 64 * 1024;

let running: TestService;
let event: string;
let massif: string;
beforeAll(async () => {
  running = await startTestService({ DOWNLOAD_BUDGET: String(BUDGET) });
  const { owner } = running;
  const asset = (await owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'call' } })).json;
  const record = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: { arc_display_type: 'x' } };
  event = String((await owner.post(`/archivist/v2/${asset['identity']}/events`, record)).json['identity']);
  const uuid = String(asset['tenant_identity']).slice('tenant/'.length);
  massif = `/verifiabledata/merklelogs/v1/mmrs/tenant/${uuid}/0/massifs/0000000000000000.log`;
  await until(
    async () => (await owner.get(`/archivist/v2/${event}/receipt`)).status,
    (status) => status === 200,
  );
});
afterAll(() => running?.close());

function expectRefused(answer: Answer): void {
  expect([answer.status, answer.json['error']]).toEqual([429, 'rate_limited']);
  expect(answer.json['description']).toBe(
    `A caller may download ${BUDGET} bytes of evidence and log files in 60 seconds.`,
  );
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
}

describe('a caller that has spent its download budget', () => {
  it('has to wait for the next evidence bundle, and nobody else has', async () => {
    const { owner } = running;
    const other = await running.client({ roles: ['OWNER'] });
    expect((await owner.get(`/archivist/v2/${event}/evidence`)).status).toBe(200);
    expectRefused(await owner.get(`/archivist/v2/${event}/evidence`));
    expect((await other.get(`/archivist/v2/${event}/evidence`)).status).toBe(200);
    expect((await owner.get(`/archivist/v2/${event}/receipt`)).status).toBe(200);
  });

  it('has no more downloads at the same time than in a row', async () => {
    const other = await running.client({ roles: ['OWNER'] });
    const answers = await Promise.all(Array.from({ length: 6 }, () => other.get(`/archivist/v2/${event}/evidence`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429, 429, 429, 429]);
  });

  it('has to wait for the next massif; without a token it is known by its address', async () => {
    const { anonymous } = running;
    let answer = await anonymous.get(massif);
    let spent = 0;
    // A minute can end meanwhile, so more than one budget can be spent.
    for (; answer.status === 200 && spent < 4 * BUDGET; answer = await anonymous.get(massif))
      spent += Math.max(Math.ceil(answer.bytes.length / 1024) * 1024, 4096);
    expect(spent).toBeGreaterThanOrEqual(BUDGET);
    expectRefused(answer);
    expect(answer.headers.get('x-ms-error-code')).toBe('ServerBusy');
  });
});
