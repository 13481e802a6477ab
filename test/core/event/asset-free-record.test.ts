import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/core/bytes.js';
import {
  ASSET_FREE_RECORD_MEMBERS,
  type AssetFreeRecord,
  assetFreeRecordDigest,
  assetFreeRecordText,
} from '../../../src/core/event/asset-free-record.js';
import { fixture } from './known-answers.js';

interface KnownRecord {
  readonly name: string;
  readonly event: AssetFreeRecord;
  readonly record: string;
  readonly sha256: string;
}

const KNOWN = (fixture('events/asset-free-records.json') as { records: KnownRecord[] }).records;

const uuid = fc.uuid();
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const attribute = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const records: fc.Arbitrary<AssetFreeRecord> = fc.record({
  identity: uuid.map((id) => `events/${id}`),
  event_type: text,
  created_by: text,
  created_at: fc.maxSafeNat(),
  origin_tenant: uuid.map((id) => `tenant/${id}`),
  attributes: fc.dictionary(text, attribute, { maxKeys: 5, noNullPrototype: true }),
  trails: fc.array(text, { maxLength: 5 }),
});

/** The same members in another order of names at every level. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

describe('the record of an asset-free event', () => {
  it.each(KNOWN)('has the known canonical form and digest: $name', ({ event, record, sha256 }) => {
    expect(assetFreeRecordText(event)).toBe(record);
    expect(toHex(assetFreeRecordDigest(event))).toBe(sha256);
  });

  it('is the same for created_at as a number, a bigint or decimal digits', () => {
    const { event, sha256 } = KNOWN[0]!;
    for (const created_at of [Number(event.created_at), BigInt(event.created_at), String(event.created_at)])
      expect(toHex(assetFreeRecordDigest({ ...event, created_at }))).toBe(sha256);
  });

  it('covers nothing but the seven members', () => {
    const { event, sha256 } = KNOWN[0]!;
    const served = { ...event, confirmation_status: 'CONFIRMED', merklelog_commit: { index: '7', idtimestamp: '01' } };
    expect(toHex(assetFreeRecordDigest(served))).toBe(sha256);
  });

  it('does not depend on the order of names, and reads back as the same event', () => {
    fc.assert(
      fc.property(records, (event) => {
        const record = assetFreeRecordText(event);
        expect(assetFreeRecordText(reversed(event) as AssetFreeRecord)).toBe(record);
        expect(assetFreeRecordText(JSON.parse(record) as AssetFreeRecord)).toBe(record);
      }),
    );
  });

  it('differs as soon as one member differs', () => {
    fc.assert(
      fc.property(records, records, fc.constantFrom(...ASSET_FREE_RECORD_MEMBERS), (event, other, member) => {
        fc.pre(!isDeepStrictEqual(event[member], other[member]));
        const changed = { ...event, [member]: other[member] };
        expect(toHex(assetFreeRecordDigest(changed))).not.toBe(toHex(assetFreeRecordDigest(event)));
      }),
    );
  });

  it.each(['', '-1', '1.5', '01', '9007199254740993', '1e3', ' 1'])('refuses the creation time "%s"', (created_at) => {
    expect(() => assetFreeRecordText({ ...KNOWN[0]!.event, created_at })).toThrow(TypeError);
  });

  it('refuses a text that has no UTF-8 form', () => {
    expect(() => assetFreeRecordText({ ...KNOWN[0]!.event, created_by: '\ud800' })).toThrow(TypeError);
  });
});
