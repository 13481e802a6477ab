import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from './test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

const hash = (digit: string) => digit.repeat(64);
const version = (number: string, digit: string) => ({
  document_hash_alg: 'sha256',
  document_hash_value: hash(digit),
  document_version: number,
  document_status: 'Published',
});
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('a document', () => {
  it('is published in versions, withdrawn, and published again, and every state can be seen by anybody', async () => {
    const { owner, anonymous } = running;
    const attributes = { arc_profile: 'Document', arc_display_name: 'Terms', ...version('1', 'a') };
    const created = await owner.post('/archivist/v2/assets', {
      behaviours: ['RecordEvidence', 'Builtin', 'AssetCreator'],
      attributes,
      public: true,
    });
    const path = `/archivist/v2/${created.json['identity']}`;
    const record = async (type: string, asset_attributes: object, more: object = {}) => {
      const event_attributes = { arc_display_type: type, ...more };
      const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes, asset_attributes };
      const { status, json } = await owner.post(`${path}/events`, body);
      expect([status, json['event_attributes']]).toEqual([200, event_attributes]);
      await pause();
      const at = new Date().toISOString();
      await pause();
      return at;
    };
    const authors = { document_version_authors: [{ display_name: 'George', email: 'george@example.com' }] };
    const second = await record('Publish', version('2', 'b'), authors);
    const withdrawn = await record('Withdraw', { document_status: 'Withdrawn' });
    await record('Publish', { document_status: 'Published' });
    const publicPath = path.replace('/assets/', '/publicassets/');
    const stateAt = async (at?: string) => {
      const { json } = await anonymous.get(`${publicPath}${at === undefined ? '' : `?at_time=${at}`}`);
      const shown = json['attributes'] as Record<string, string>;
      return [shown['document_version'], shown['document_status'], shown['document_hash_value']];
    };
    expect(await stateAt(second)).toEqual(['2', 'Published', hash('b')]);
    expect(await stateAt(withdrawn)).toEqual(['2', 'Withdrawn', hash('b')]);
    expect(await stateAt()).toEqual(['2', 'Published', hash('b')]);
    const found = await anonymous.get(`${publicPath}/events?asset_attributes.document_hash_value=${hash('a')}`);
    expect(found.json['events']).toMatchObject([{ operation: 'NewAsset', asset_attributes: attributes }]);
  });

  it('may be private, as stock samples make it: then nobody else can look it up', async () => {
    const { owner, anonymous } = running;
    const created = await owner.post('/archivist/v2/assets', { attributes: { arc_profile: 'Document' } });
    expect([created.status, created.json['public']]).toEqual([200, false]);
    const path = `/archivist/v2/${created.json['identity']}`;
    const published = { operation: 'Record', behaviour: 'RecordEvidence', asset_attributes: version('1', 'a') };
    expect((await owner.post(`${path}/events`, published)).status).toBe(200);
    expect((await anonymous.get(path.replace('/assets/', '/publicassets/'))).status).toBe(404);
  });
});
