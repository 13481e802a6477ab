import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/core/bytes.js';
import { assetEventLeaf } from '../../../src/core/event/asset-event-leaf.js';
import { type V3Event, v3Preimage } from '../../../src/core/event/v3-event.js';
import { sha256 } from '../../../src/core/sha256.js';
import { fixture, sharedVectors } from './known-answers.js';

interface LeafCase {
  readonly name: string;
  readonly event: V3Event;
  readonly idtimestamp: string;
  readonly preimage_sha256: string;
  readonly leaf: string;
}
interface PublishedEvents {
  readonly events: { name: string; event: V3Event; idtimestamp: string; v3_bencode_hex: string; leaf: string }[];
  readonly edge_cases_DERIVED: { name: string; event: V3Event; v3_bencode_utf8: string; sha256: string }[];
  readonly accumulated: { events: V3Event[]; expected: string };
}
interface PublishedLog {
  readonly events: {
    event: V3Event;
    idtimestamp: string;
    timestamp_committed_used_in_hash: string;
    leaf: string;
    leaf_if_response_hashed_verbatim: string;
  }[];
}

const CASES = fixture('events/asset-event-leaves.json') as LeafCase[];
const published = sharedVectors('v3-event-hash.json') as PublishedEvents | undefined;
const log = sharedVectors('mmr-log-jag.json') as PublishedLog | undefined;

/** The id without its epoch byte. */
function id(text: string): bigint {
  return BigInt(`0x${text.replace(/^0x/, '').slice(-16)}`);
}

describe('the leaf of an asset event', () => {
  it.each(CASES)('is the known one: $name', ({ event, idtimestamp, preimage_sha256, leaf }) => {
    expect(toHex(sha256(v3Preimage(event)))).toBe(preimage_sha256);
    expect(toHex(assetEventLeaf(event, id(idtimestamp)))).toBe(leaf);
  });

  it('changes with each of the eleven fields, and with no other', () => {
    const event = CASES[0]!.event;
    const leafOf = (changed: object) => toHex(assetEventLeaf({ ...event, ...changed }, 1n));
    const texts = ['operation', 'behaviour', 'identity', 'tenant_identity', 'timestamp_declared'];
    const times = ['timestamp_accepted', 'timestamp_committed'];
    const maps = ['event_attributes', 'asset_attributes', 'principal_declared', 'principal_accepted'];
    const leaves = [
      leafOf({}),
      ...[...texts, ...times].map((name) => leafOf({ [name]: 'other' })),
      ...maps.map((name) => leafOf({ [name]: { other: 'other' } })),
    ];
    expect(new Set(leaves).size).toBe(12);
    expect(leafOf({ from: 'other', confirmation_status: 'other', asset_identity: 'other' })).toBe(leaves[0]);
  });

  it('is the same for the public form of an event, and only the first "public" goes', () => {
    const event = { ...CASES[0]!.event, identity: 'assets/a/events/public' };
    const publicForm = { ...event, identity: 'publicassets/a/events/public' };
    expect(v3Preimage(publicForm)).toEqual(v3Preimage(event));
  });

  it('refuses a number anywhere, and a lone surrogate', () => {
    const event = CASES[0]!.event;
    for (const value of [1, [1], { a: [{ b: 2 }] }, '\ud800', { '\udc00': 'x' }])
      expect(() => assetEventLeaf({ ...event, event_attributes: { value } }, 1n)).toThrow(TypeError);
  });
});

describe.skipIf(!published)('the published asset events', () => {
  it.each(published?.events ?? [])(
    '$name has its preimage and leaf',
    ({ event, idtimestamp, v3_bencode_hex, leaf }) => {
      expect(toHex(v3Preimage(event))).toBe(v3_bencode_hex);
      expect(toHex(assetEventLeaf(event, id(idtimestamp)))).toBe(leaf);
    },
  );

  it.each(published?.edge_cases_DERIVED ?? [])('edge case: $name', ({ event, v3_bencode_utf8, sha256: digest }) => {
    expect(new TextDecoder().decode(v3Preimage(event))).toBe(v3_bencode_utf8);
    expect(toHex(sha256(v3Preimage(event)))).toBe(digest);
  });

  it('hash to the published digest one after the other', () => {
    expect(toHex(sha256(...published!.accumulated.events.map(v3Preimage)))).toBe(published!.accumulated.expected);
  });

  it.each(log?.events ?? [])('leaf of a log of $event.identity', (entry) => {
    const hashed = { ...entry.event, timestamp_committed: entry.timestamp_committed_used_in_hash };
    expect(toHex(assetEventLeaf(hashed, id(entry.idtimestamp)))).toBe(entry.leaf);
    expect(toHex(assetEventLeaf(entry.event, id(entry.idtimestamp)))).toBe(entry.leaf_if_response_hashed_verbatim);
  });
});
