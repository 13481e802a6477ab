import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATION_QUEUE, type OperationJob } from '../../plugins/operation/operation-job.js';
import { readJson } from '../../src/core/vcon/json-document.js';
import { pythonJson } from '../../src/core/vcon/python-json.js';
import { ownRedisUrl } from '../support/own-redis.js';
import { hasRedisPy, pythonPath, redisUrl } from '../support/prerequisites.js';
import { eventually, type OpenBackend, openBackend, type Rig, report, startRig } from './plugin-rig.js';
import { driveWheel, type Step } from './python-wheel.js';

const UUID = '019a9f20-4d10-8c3a-a1f4-5b6c7d8e9f01';
const OWN = new URL('../../fixtures/vcon/', import.meta.url);
const SHARED = new URL('../../../shared/vectors/vcons/', import.meta.url);
const OPERATION = 'vcon_sent';
/** What tells the ways apart: who saw the operation, when, and in which place of a chain. */
const OF_THE_WAY = ['capture_method', 'capture_sequence', 'timestamp_observed', 'conserver_link_name'];

const vcon = (members: object = {}): string =>
  JSON.stringify({ uuid: randomUUID(), created_at: '2026-11-20T10:00:00+00:00', parties: [], ...members });
const signed = readFileSync(new URL('signed-call.vcon.json', OWN), 'utf8');
const consent = { purpose: 'lawful_basis', body: '{"lawful_basis":"consent","purpose_grants":[{"granted":true}]}' };
const made: Readonly<Record<string, string>> = {
  plain: vcon(),
  updated: vcon({ updated_at: '2026-11-20T11:00:00Z', vcon: '0.4.0' }),
  'of an older draft': vcon({ vcon: '0.0.1' }),
  'without times': vcon({ created_at: undefined }),
  'a redaction': vcon({ redacted: { uuid: UUID, type: 'pii' } }),
  'an amendment': vcon({ amended: { uuid: UUID.toUpperCase() } }),
  consents: vcon({ attachments: [consent] }),
  'a refusal': vcon({ attachments: [{ ...consent, body: consent.body.replace('true', 'false') }] }),
  'numbers and letters': vcon({ n: [1e21, 1e-7, -0.5, 10, 2 ** 53 + 2], é: 'a\u2028b\u007f😀' }),
  'an integer beyond a double': vcon().replace('{', '{"n":18446744073709551615,'),
  'a lone surrogate': vcon().replace('{', '{"n":"\\ud800",'),
  'no uuid': vcon({ uuid: undefined }),
  'no vCon at all': '{"a":1}',
  'a dialog that is no list': vcon({ dialog: 'none' }),
  'a dialog that is no list, in a vCon too large to be read': vcon({ dialog: 'none', numbers: Array(450_000).fill(0) }),
  'signed twice': JSON.stringify({ payload: Buffer.from(signed).toString('base64url'), signatures: [] }),
  'signed, unreadable': JSON.stringify({ payload: '!', signatures: [{ header: { uuid: randomUUID() } }] }),
  encrypted: JSON.stringify({ ciphertext: 'x', recipients: [], unprotected: { uuid: randomUUID() } }),
  'encrypted without uuid': JSON.stringify({ ciphertext: 'x', recipients: [] }),
  'a recording': vcon({ dialog: [{ body: 'x'.repeat(400_000) }] }),
};
const files = [OWN, ...(existsSync(SHARED) ? [SHARED] : [])].flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'hashes.json')
    .map((file) => [file, readFileSync(new URL(file, folder), 'utf8')] as const),
);
const documents = [...Object.entries(made), ...files];

describe.skipIf(!redisUrl || !pythonPath || !hasRedisPy)('one operation is one record', () => {
  let open: OpenBackend;
  let rig: Rig;
  const stream = `stream-${randomUUID()}`;
  const recorded = new Map<string, Readonly<Record<string, string>>>();

  /** Has every document's operation captured by every way, each in a link of its own name, by one plugin. */
  beforeAll(async () => {
    open = await openBackend('Redis');
    rig = await startRig(open.backend, {
      settings: { conserverRedisUrl: ownRedisUrl('plugin'), stream },
      pace: { firstMs: 60_000, mostMs: 60_000 },
    });
    rig.archivist.always('token', { status: 503 });
    const steps = documents.flatMap(([, document], place): Step[] => {
      const uuid = `document-${place}`;
      const traced = { tracer: [uuid, uuid] as [string, string], links: [`tracer ${place}`] };
      const options = { vcon_operation: OPERATION, chain: 'main', stream };
      return [
        { set: uuid, document: '{"before":true}' },
        { ...traced, index: -1, options },
        { set: uuid, document },
        { ...traced, index: 0, options },
        { link: `link ${place}`, uuid, options },
      ];
    });
    const { results } = driveWheel(steps, ownRedisUrl('plugin'));
    expect(results.filter(({ raised }) => raised)).toEqual([]);
    for (const [place, [, document]] of documents.entries()) {
      const target = `${rig.url}/chains/main/links/receiver%20${place}/operations/${OPERATION}`;
      await report(target, pythonJson(readJson(Buffer.from(document)).value));
    }
    await eventually(async () => {
      const jobs = await open.backend.queue(OPERATION_QUEUE).getJobs(['waiting', 'active', 'delayed', 'failed']);
      for (const { attributes } of jobs.filter(Boolean).map((job) => job.data as OperationJob))
        if (attributes['vcon_operation'] === OPERATION)
          recorded.set(decodeURIComponent(attributes['conserver_link_name']!), attributes);
      return recorded.size >= documents.length * 3;
    });
  });
  afterAll(async () => {
    await rig?.close();
    await open?.close();
  });

  it.each(documents.map(([name], place) => [name, place] as const))('whichever way it was captured: %s', (_, place) => {
    const by = (way: string): Readonly<Record<string, string | undefined>> => {
      const attributes = recorded.get(`${way} ${place}`);
      expect(attributes?.['capture_method']).toBe(way);
      const { timestamp_declared, ...rest } = attributes!;
      for (const name of OF_THE_WAY) delete (rest as Record<string, string>)[name];
      return rest['timestamp_declared_source'] === 'observed' ? rest : { timestamp_declared, ...rest };
    };
    const received = by('receiver');
    expect(received['vcon_form']).toBeDefined();
    expect(by('link')).toEqual(received);
    expect(by('tracer')).toEqual(received);
  });
});
