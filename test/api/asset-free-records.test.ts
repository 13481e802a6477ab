import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { equalBytes, toHex, utf8 } from '../../src/core/bytes.js';
import { decodeCoseKeySet } from '../../src/core/cose/cose-key.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { assetFreeExtraBytes, assetFreeLeaf } from '../../src/core/event/asset-free-leaf.js';
import { readMmrReceipt } from '../../src/core/receipt/mmr-receipt.js';
import { readRfc9162Receipt } from '../../src/core/receipt/rfc9162-receipt.js';
import { sha256 } from '../../src/core/sha256.js';
import { readStatement } from '../../src/core/statement/signed-statement.js';
import { readTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import { verifyEventRecord } from '../../src/core/verify/event-of-statement.js';
import { mmrReceiptPeak } from '../../src/core/verify/verify-receipt.js';
import { verifyTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { type Client, startTestService, type TestService, template, until } from './test-service.js';

const RECORD_TYPE = 'application/vnd.vcon-archivist.asset-free-event+json';
let running: TestService;
let owner: Client;

beforeAll(async () => {
  running = await startTestService();
  owner = running.owner;
});
afterAll(() => running?.close());

interface ServedEvent {
  readonly identity: string;
  readonly event_type: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly origin_tenant: string;
  readonly attributes: Record<string, unknown>;
  readonly trails: string[];
  readonly merklelog_commit: { readonly index: string; readonly idtimestamp: string };
}

const CONTENTS = {
  'with a vCon template': {
    attributes: { ...template('vcon://0190e3a5-0000-7000-8000-000000000002'), z: ['b', { y: 'é', x: '<' }] },
    trails: ['t', 's'],
    event_type: 'kind',
  },
  'without one': { attributes: { note: 'free', a: { b: ['c'] } }, trails: ['t'], event_type: 'made' },
  'with nothing in it': {},
};

async function post(content: object): Promise<ServedEvent> {
  const { json } = await owner.post('/archivist/v1/events', content);
  const ready = await until(
    () => owner.get(`/archivist/v1/${json['identity']}`),
    (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
    30_000,
  );
  return ready.json as unknown as ServedEvent;
}

/** The statement log follows the tenancy's log. */
async function proof(event: ServedEvent, name: string): Promise<Uint8Array> {
  const answer = await until(
    () => owner.get(`/archivist/v1/${event.identity}/${name}`),
    ({ status }) => status === 200,
    30_000,
  );
  expect([name, answer.status]).toEqual([name, 200]);
  return answer.bytes;
}

async function trust() {
  const logKeys = decodeCoseKeySet((await running.anonymous.get('/.well-known/scitt-keys')).bytes);
  const did = await running.anonymous.get('/archivist/v1/didweb/did.json');
  const methods = did.json['verificationMethod'] as { publicKeyJwk: (typeof logKeys)[number] }[];
  return { logKeys, issuerKeys: methods.map((each) => each.publicKeyJwk) };
}

/** RFC 8785 of these events by another road than the service's: their names are ASCII, their numbers small integers. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

function recordHash({ identity, event_type, created_by, created_at, origin_tenant, attributes, trails }: ServedEvent) {
  const record = { identity, event_type, created_by, created_at, origin_tenant, attributes, trails };
  return toHex(sha256(utf8(JSON.stringify(sorted(record)))));
}

describe.each(Object.entries(CONTENTS))('an asset-free event %s', (kind, content) => {
  it('has its record in a statement of the service that names its tenancy', async () => {
    const event = await post(content);
    const statement = readStatement(await proof(event, 'signed-statement'));
    const tenancy = event.origin_tenant.replace('tenant/', '');
    expect(statement.issuer).toMatch(new RegExp(`^did:web:.*:${tenancy}$`));
    if (kind === 'with a vCon template') {
      expect(statement.subject).toBe('vcon://0190e3a5-0000-7000-8000-000000000002');
      expect(toHex(statement.sign1.protectedHeader.get(-65933) as Uint8Array)).toBe(recordHash(event));
    } else {
      expect(statement.subject).toBe(event.identity);
      expect(statement.preimageContentType).toBe(RECORD_TYPE);
      expect(toHex(statement.payloadHash!)).toBe(recordHash(event));
    }
  });

  it('hands out a transparent statement that proves the record in the private statement log', async () => {
    const event = await post(content);
    const bytes = await proof(event, 'transparent-statement');
    await verifyTransparentStatement(bytes, await trust());
    const parts = readTransparentStatement(bytes);
    expect(verifyEventRecord(parts.event!, readStatement(parts.entry))).toBe(true);
    const log = readRfc9162Receipt(parts.receipts[0]!.bytes);
    const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as { logs: Record<string, string>[] };
    expect(logs.map((each) => [each['kind'], JSON.stringify(each).includes(log.subject!)])).toContainEqual([
      'private',
      true,
    ]);
    expect(equalBytes(parts.entry, await proof(event, 'signed-statement'))).toBe(true);
  });

  it.each([
    ['identity', 'events/0192e8f5-0000-7000-8000-0000000000ef'],
    ['event_type', 'forged'],
    ['created_by', 'somebody'],
    ['created_at', '1732200000123'],
    ['attributes', { forged: 'yes' }],
    ['trails', ['forged']],
  ])('is refused in its transparent statement with another %s', async (member, value) => {
    const event = await post(content);
    const { unprotectedHeader, ...statement } = decodeSign1(await proof(event, 'transparent-statement'));
    const document = JSON.parse(unprotectedHeader.get('event') as string) as Record<string, unknown>;
    unprotectedHeader.set('event', JSON.stringify({ ...document, [member]: value }));
    const forged = encodeSign1({ ...statement, unprotectedHeader });
    await expect(verifyTransparentStatement(forged, await trust())).rejects.toThrow();
  });

  it('keeps the leaf that stock verifiers recompute from attributes, trails and tenancy', async () => {
    const event = await post(content);
    const id = BigInt(`0x${event.merklelog_commit.idtimestamp.slice(2)}`);
    const extraBytes = assetFreeExtraBytes(event);
    expect(toHex(extraBytes.subarray(0, 17))).toBe(`01${event.origin_tenant.slice(7).replaceAll('-', '')}`);
    const receipt = readMmrReceipt(await proof(event, 'receipt'));
    expect(String(receipt.index)).toBe(event.merklelog_commit.index);
    expect(mmrReceiptPeak(receipt, assetFreeLeaf(event, id, extraBytes))).toHaveLength(32);
    const leaf = await massifNode(event, receipt.index);
    expect(leaf).toBe(toHex(assetFreeLeaf(event, id, extraBytes)));
  });

  it('has the statement, its receipt and the event in its evidence', async () => {
    const event = await post(content);
    const files = unzipSync(await proof(event, 'evidence'));
    expect(files['signed-statement.cose']).toEqual(await proof(event, 'signed-statement'));
    expect(files['transparent-statement.cose']).toEqual(await proof(event, 'transparent-statement'));
    expect(readRfc9162Receipt(files['statement-log-receipt.cose']!).path).toBeDefined();
  });
});

/** A node of the tenancy's first massif, in hex: massif height 14, so nodes begin after 1,048,864 bytes. */
async function massifNode(event: ServedEvent, index: bigint): Promise<string> {
  const path = `/verifiabledata/merklelogs/v1/mmrs/${event.origin_tenant}/0/massifs/0000000000000000.log`;
  const { bytes } = await running.anonymous.get(path);
  const start = 1_048_864 + 32 * Number(index);
  return toHex(bytes.subarray(start, start + 32));
}

describe('an asset-free event that is older than records', () => {
  it('has its receipt and evidence, and no statement, which the answer explains', async () => {
    const made = await post({ attributes: { note: 'old' }, event_type: 'made' });
    const old = '0192e8f5-0000-7000-8000-0000000000dd';
    await running.asOwner(
      `INSERT INTO archivist.asset_free_event (tenant_id, event_id, attributes, trails, event_type, creator_issuer, created_by, created_at_ms)
       SELECT tenant_id, '${old}', attributes, trails, event_type, creator_issuer, created_by, created_at_ms
         FROM archivist.asset_free_event WHERE event_id = '${made.identity.slice('events/'.length)}'`,
      `INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
       SELECT tenant_id, tenant_id, '${old}', 'asset_free_event', tenant_id FROM archivist.asset_free_event WHERE event_id = '${old}'`,
    );
    const path = `/archivist/v1/events/${old}`;
    await until(
      () => owner.get(`${path}/receipt`),
      (answer) => answer.status === 200,
      30_000,
    );
    for (const name of ['signed-statement', 'transparent-statement']) {
      const answer = await owner.get(`${path}/${name}`);
      expect([answer.status, answer.json['description']]).toEqual([404, expect.stringMatching(/accepted before/)]);
    }
    const files = unzipSync((await owner.get(`${path}/evidence`)).bytes);
    expect(Object.keys(files)).not.toContain('signed-statement.cose');
    expect(files['tenancy-log-receipt.cose']).toBeDefined();
  });
});
