import { createHash, createPublicKey, verify } from 'node:crypto';
import { decode, encode, Tagged } from 'cborg';

// What clients that are not ours do with our bytes: cborg and node:crypto, nothing of src.

type Cbor = Map<unknown, unknown>;

/** Tag 18 off, maps as Map: the four parts. */
export function foreignSign1(bytes: Uint8Array): [Uint8Array, Cbor, Uint8Array | null, Uint8Array] {
  const tags = Tagged.preserve(18);
  const { value } = decode(bytes, { useMaps: true, tags, strict: true }) as { value: unknown };
  return value as [Uint8Array, Cbor, Uint8Array | null, Uint8Array];
}

export const foreignMap = (bytes: Uint8Array) => decode(bytes, { useMaps: true }) as Cbor;
const hash = (...parts: Uint8Array[]) => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return new Uint8Array(sum.digest());
};

/** The root of an RFC 9162 tree from a leaf and its path, walking as the conserver's link does. */
export function foreignRoot(leaf: Uint8Array, size: number, index: number, path: readonly Uint8Array[]): Uint8Array {
  let [node, at, last] = [leaf, index, size - 1];
  for (const sibling of path) {
    if (at % 2 === 1 || at === last) {
      node = hash(Uint8Array.of(1), sibling, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [at >> 1, last >> 1];
    } else node = hash(Uint8Array.of(1), node, sibling);
    [at, last] = [at >> 1, last >> 1];
  }
  return node;
}

/** Checks an ES256 COSE_Sign1 with a detached payload. */
export function foreignVerify(receipt: Uint8Array, payload: Uint8Array, jwk: Record<string, unknown>): boolean {
  const [header, , , signature] = foreignSign1(receipt);
  const message = encode(['Signature1', header, new Uint8Array(), payload]);
  const key = createPublicKey({ key: { ...jwk } as never, format: 'jwk' });
  return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** An RFC 9942 receipt of a statement log: verified over the leaf with this key. */
export function foreignReceiptHolds(receipt: Uint8Array, leaf: Uint8Array, jwk: Record<string, unknown>): boolean {
  const [header, unprotected, payload] = foreignSign1(receipt);
  if (payload !== null || foreignMap(header).get(395) !== 1) return false;
  const proofs = (unprotected.get(396) as Cbor).get(-1) as Uint8Array[];
  const [size, index, path] = decode(proofs[0]!) as [number, number, Uint8Array[]];
  return foreignVerify(receipt, foreignRoot(leaf, size, index, path), jwk);
}

export const foreignLeaf = (entry: Uint8Array) => hash(Uint8Array.of(0), entry);

function bencoded(value: unknown): string {
  if (typeof value === 'string') return `${Buffer.byteLength(value)}:${value}`;
  if (Array.isArray(value)) return `l${value.map(bencoded).join('')}e`;
  const members = Object.entries(value as object).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `d${members.map(([name, member]) => bencoded(name) + bencoded(member)).join('')}e`;
}

const V3 = [
  'identity',
  'event_attributes',
  'asset_attributes',
  'operation',
  'behaviour',
  'timestamp_declared',
  'timestamp_accepted',
  'timestamp_committed',
  'principal_accepted',
  'principal_declared',
  'tenant_identity',
];

/** The leaf of a public event, from its JSON as it is served: a missing field is an error, as it is for the samples. */
export function foreignEventLeaf(event: Record<string, unknown>): Uint8Array {
  const entries = V3.map((name) => {
    if (!(name in event)) throw new Error(`${name} is missing`);
    return [name, event[name]];
  });
  const fields = { ...Object.fromEntries(entries), identity: String(event['identity']).replace(/^public/, '') };
  const { commit } = event['merklelog_entry'] as { commit: { idtimestamp: string } };
  const idtimestamp = Buffer.from(commit.idtimestamp.slice(2), 'hex');
  return hash(Uint8Array.of(0), idtimestamp, Buffer.from(bencoded(fields)));
}

/** An MMRIVER receipt in the map form, with the key it carries, the way the samples check it. */
export function foreignMmrReceiptHolds(receipt: Uint8Array, leaf: Uint8Array): boolean {
  const [header, unprotected] = foreignSign1(receipt);
  const labels = foreignMap(header);
  if (labels.get(395) !== 3) return false;
  const [proof] = (unprotected.get(396) as Cbor).get(-1) as Cbor[];
  const peak = foreignPeak(BigInt(proof!.get(1) as number), leaf, (proof!.get(2) ?? []) as Uint8Array[]);
  const claims = (labels.get(15) ?? labels.get(13)) as Cbor;
  const key = (claims.get(8) as Cbor).get(1) as Cbor;
  if (key.get(1) !== 2 || key.get(-1) !== 1) return false;
  const text = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString('base64url');
  return foreignVerify(receipt, peak, { kty: 'EC', crv: 'P-256', x: text(-2), y: text(-3) });
}

function heightOf(index: bigint): number {
  let position = index + 1n;
  const bits = (value: bigint) => value.toString(2).length;
  while ((position & (position + 1n)) !== 0n) position -= (1n << BigInt(bits(position) - 1)) - 1n;
  return bits(position) - 1;
}

/** The peak that a path leads to from a node of a Merkle mountain range. */
export function foreignPeak(index: bigint, leaf: Uint8Array, path: readonly Uint8Array[]): Uint8Array {
  let [node, at, height] = [leaf, index, heightOf(index)];
  for (const sibling of path) {
    const right = heightOf(at + 1n) > height;
    at = right ? at + 1n : at + (2n << BigInt(height));
    const position = Buffer.alloc(8);
    position.writeBigUInt64BE(at + 1n);
    node = right ? hash(position, sibling, node) : hash(position, node, sibling);
    height += 1;
  }
  return node;
}
