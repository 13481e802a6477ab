import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../../src/core/bytes.js';
import {
  type AssetFreeContent,
  type AssetFreeOrigin,
  assetFreeExtraBytes,
  assetFreeLeaf,
  assetFreeSerialisation,
} from '../../../src/core/event/asset-free-leaf.js';
import { sha256 } from '../../../src/core/sha256.js';
import { fixture, sharedVectors } from './known-answers.js';

interface Serialisation extends AssetFreeContent {
  readonly name: string;
  readonly json: string;
  readonly sha256: string;
}
interface Leaf extends AssetFreeContent, AssetFreeOrigin {
  readonly extra_bytes: string;
  readonly idtimestamp: string;
  readonly leaf: string;
}
interface PublishedEvents {
  readonly events: {
    name: string;
    event: AssetFreeContent & AssetFreeOrigin;
    serialised_hex: string;
    extra_bytes: string;
    idtimestamp: string;
    leaf: string;
  }[];
  readonly edge_cases_DERIVED: (Serialisation & { serialised_hex: string })[];
}

const KNOWN = fixture('events/asset-free-leaves.json') as { serialisations: Serialisation[]; leaves: Leaf[] };
const published = sharedVectors('eventsv1.json') as PublishedEvents | undefined;

describe('the leaf of an asset-free event', () => {
  it.each(KNOWN.serialisations)('serialises as Go does: $name', (event) => {
    const bytes = assetFreeSerialisation(event);
    expect(new TextDecoder().decode(bytes)).toMatch(/^\d+:/);
    expect(new TextDecoder().decode(bytes).replace(/^\d+:/, '')).toBe(event.json);
    expect(toHex(sha256(bytes))).toBe(event.sha256);
  });

  it.each(KNOWN.leaves)('binds event type "$event_type", creator "$created_by" and time through the salt', (event) => {
    const extraBytes = assetFreeExtraBytes(event);
    expect(toHex(extraBytes)).toBe(event.extra_bytes);
    expect(toHex(assetFreeLeaf(event, BigInt(`0x${event.idtimestamp}`), extraBytes))).toBe(event.leaf);
  });

  it('never takes one event type, creator and time for another that reads the same when joined', () => {
    expect(new Set(KNOWN.leaves.map(({ extra_bytes }) => extra_bytes)).size).toBe(KNOWN.leaves.length);
  });

  it('takes the creation time as number, bigint or text alike', () => {
    const event = KNOWN.leaves[1]!;
    const forms = [event.created_at, Number(event.created_at), BigInt(event.created_at)];
    expect(new Set(forms.map((created_at) => toHex(assetFreeExtraBytes({ ...event, created_at })))).size).toBe(1);
  });

  it('binds no origin without an event type, and takes an empty one for another event', () => {
    const { event_type: _, ...event } = KNOWN.leaves[0]!;
    expect(toHex(assetFreeExtraBytes(event).subarray(17))).toBe('00'.repeat(7));
    expect(toHex(assetFreeExtraBytes({ ...event, event_type: '' }).subarray(17))).not.toBe('00'.repeat(7));
  });

  it('refuses a tenancy that is none, and extra bytes of another length', () => {
    expect(() => assetFreeExtraBytes({ ...KNOWN.leaves[0]!, origin_tenant: 'tenant/x' })).toThrow(TypeError);
    expect(() => assetFreeLeaf({}, 1n, new Uint8Array(23))).toThrow(TypeError);
  });
});

describe.skipIf(!published)('the published asset-free events', () => {
  it.each(published?.events ?? [])('$name', ({ event, serialised_hex, extra_bytes, idtimestamp, leaf }) => {
    expect(toHex(assetFreeSerialisation(event))).toBe(serialised_hex);
    const id = BigInt(`0x${idtimestamp.slice(-16)}`);
    expect(toHex(assetFreeLeaf(event, id, fromHex(extra_bytes)))).toBe(leaf);
    expect(toHex(assetFreeExtraBytes(event))).toBe(extra_bytes);
  });

  it.each(published?.edge_cases_DERIVED ?? [])('edge case: $name', (event) => {
    expect(toHex(assetFreeSerialisation(event))).toBe(event.serialised_hex);
  });
});
