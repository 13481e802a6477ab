import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../../src/core/bytes.js';
import { type CborMap, encodeCbor } from '../../../src/core/cose/cbor.js';
import { Header } from '../../../src/core/cose/labels.js';
import { createSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { type AssetFreeRecord, assetFreeRecordDigest } from '../../../src/core/event/asset-free-record.js';
import { sha256 } from '../../../src/core/sha256.js';
import {
  type AssetFreeEventDocument,
  type EventDocument,
  readEventDocument,
} from '../../../src/core/statement/event-document.js';
import {
  ASSET_FREE_RECORD_TYPE,
  type EventStatement,
  eventStatement,
  isRecordStatement,
  statedRecord,
} from '../../../src/core/statement/event-statement.js';
import { readStatement } from '../../../src/core/statement/signed-statement.js';
import { readTemplate } from '../../../src/core/statement/vcon-template.js';
import { verifyEventMatchesStatement, verifyEventRecord } from '../../../src/core/verify/event-of-statement.js';
import { readFixture, type TestKeys } from '../cose/read-fixture.js';
import { softwareSigner } from '../cose/software-signer.js';

const signer = softwareSigner(readFixture<TestKeys>('keys').issuer);
const TENANCY = '0192e8f5-0000-7000-8000-0000000000aa';
const issuer = `did:web:archivist.example:archivist:v1:didweb:${TENANCY}`;
const attributes = {
  payload: toHex(sha256(utf8('{"vcon":"0.3.0"}'))),
  payload_hash_alg: 'SHA-256',
  subject: 'vcon://0192e8f5-0000-7000-8000-000000000001',
  vcon_operation: 'vcon_created',
};
const COMMIT = { index: '7', idtimestamp: '019148fcc832066400' };

function record(content: Record<string, unknown>): AssetFreeRecord {
  return {
    identity: 'events/0192e8f5-0000-7000-8000-0000000000ee',
    event_type: 'made',
    created_by: '0192e8f5-0000-7000-8000-00000000000a',
    created_at: 1_732_200_000_123,
    origin_tenant: `tenant/${TENANCY}`,
    attributes: content,
    trails: ['a', 'b'],
  };
}

const event = (of: AssetFreeRecord, changed: Partial<AssetFreeRecord> = {}): EventDocument =>
  readEventDocument({ ...of, ...changed, merklelog_commit: COMMIT });

async function signed(content: EventStatement, edit: (header: CborMap) => void = () => {}): Promise<Uint8Array> {
  const { header, payload } = eventStatement(content, { ...signer, issuer });
  edit(header);
  return encodeSign1(await createSign1(header, payload, signer));
}

const withTemplate = record(attributes);
const bare = record({ note: 'free' });
const statements = async () =>
  [
    [withTemplate, await signed({ template: readTemplate(attributes)!, record: named(withTemplate) })],
    [bare, await signed({ record: named(bare) })],
  ] as const;
const named = (of: AssetFreeRecord) => ({ identity: of.identity, digest: assetFreeRecordDigest(of) });

const CHANGES: readonly Partial<AssetFreeRecord>[] = [
  { identity: 'events/0192e8f5-0000-7000-8000-0000000000ef' },
  { event_type: 'made ' },
  { event_type: '' },
  { created_by: 'somebody' },
  { created_at: 1_732_200_000_124 },
  { origin_tenant: 'tenant/0192e8f5-0000-7000-8000-0000000000ab' },
  { trails: ['b', 'a'] },
  { trails: ['a'] },
];

describe('the statement of an asset-free event', () => {
  it('states the record under −65933 beside a vCon operation, and as its payload without one', async () => {
    const [[, operation], [, alone]] = await statements();
    const read = readStatement(operation);
    expect(read.sign1.protectedHeader.get(-65933)).toEqual(assetFreeRecordDigest(withTemplate));
    expect([read.subject, toHex(read.payloadHash!), isRecordStatement(read)]).toEqual([
      attributes.subject,
      attributes.payload,
      false,
    ]);
    const small = readStatement(alone);
    expect(small).toMatchObject({
      issuer,
      subject: bare.identity,
      payloadHash: assetFreeRecordDigest(bare),
      payloadHashAlg: -16,
      preimageContentType: ASSET_FREE_RECORD_TYPE,
    });
    expect([small.sign1.protectedHeader.has(-65933), isRecordStatement(small)]).toEqual([false, true]);
    for (const one of [read, small]) expect(statedRecord(one)).toHaveLength(32);
  });

  it('covers its event, whose creation time may be a number or text', async () => {
    for (const [of, statement] of await statements())
      for (const created_at of [of.created_at, String(of.created_at)]) {
        expect(verifyEventRecord(event(of, { created_at }), readStatement(statement))).toBe(true);
        expect(() => verifyEventMatchesStatement(event(of, { created_at }), statement)).not.toThrow();
      }
  });

  it.each(CHANGES)('refuses the event with another member: %o', async (changed) => {
    for (const [of, statement] of await statements()) {
      expect(() => verifyEventRecord(event(of, changed), readStatement(statement))).toThrow(/event_mismatch|differ/);
      expect(() => verifyEventMatchesStatement(event(of, changed), statement)).toThrow(/differ/);
    }
  });

  it('refuses an attribute that was added, removed, nulled or changed', async () => {
    for (const [of, statement] of await statements()) {
      const [name] = Object.keys(of.attributes);
      for (const changed of [
        { ...of.attributes, more: 'x' },
        { ...of.attributes, more: null },
        { ...of.attributes, [name!]: 'x' },
        Object.fromEntries(Object.entries(of.attributes).slice(1)),
      ])
        expect(() => verifyEventRecord(event(of, { attributes: changed }), readStatement(statement))).toThrow(/differ/);
    }
  });

  it('refuses an event without a type, and an asset event', async () => {
    for (const [of, statement] of await statements()) {
      const { event_type: _, ...untyped } = event(of) as AssetFreeEventDocument;
      expect(() => verifyEventRecord(untyped, readStatement(statement))).toThrow(/event_type/);
      const asset = { ...untyped, identity: `assets/${TENANCY}/${of.identity}` } as unknown as EventDocument;
      expect(() => verifyEventRecord(asset, readStatement(statement))).toThrow(/asset-free/);
    }
  });

  it('refuses a record statement whose subject is another event', async () => {
    const statement = await signed({
      record: { ...named(bare), identity: 'events/0192e8f5-0000-7000-8000-0000000000ef' },
    });
    expect(() => verifyEventRecord(event(bare), readStatement(statement))).toThrow(/identity/);
  });

  it.each([
    ['a text', 'a'.repeat(32)],
    ['31 bytes', new Uint8Array(31)],
    ['33 bytes', new Uint8Array(33)],
    ['a list', [new Uint8Array(32)]],
  ])('takes %s under −65933 for no record', async (_, value) => {
    const statement = await signed({ template: readTemplate(attributes)! }, (header) =>
      header.set(Header.assetFreeRecord, value),
    );
    expect(verifyEventRecord(event(withTemplate), readStatement(statement))).toBe(false);
  });

  it('takes an unprotected −65933 for no record', async () => {
    const { header, payload } = eventStatement({ template: readTemplate(attributes)! }, { ...signer, issuer });
    const sign1 = await createSign1(header, payload, signer);
    const unprotectedHeader = new Map([[-65933, assetFreeRecordDigest(withTemplate)]]);
    expect(encodeCbor(unprotectedHeader).length).toBeGreaterThan(32);
    const statement = readStatement({ ...readStatement(encodeSign1(sign1)).sign1, unprotectedHeader });
    expect(verifyEventRecord(event(withTemplate), statement)).toBe(false);
  });

  it('with no record states none, and the event only has to be of the same operation', async () => {
    const statement = await signed({ template: readTemplate(attributes)! });
    // The issuer still has to be the event's tenancy.
    for (const changed of [{}, ...CHANGES.filter((each) => !('origin_tenant' in each))]) {
      expect(verifyEventRecord(event(withTemplate, changed), readStatement(statement))).toBe(false);
      expect(() => verifyEventMatchesStatement(event(withTemplate, changed), statement)).not.toThrow();
    }
  });
});
