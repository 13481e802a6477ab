import { toHex, utf8 } from '../../../src/core/bytes.js';
import { createSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import type { Signer } from '../../../src/core/cose/signature.js';
import { assetEventLeaf } from '../../../src/core/event/asset-event-leaf.js';
import { assetFreeExtraBytes, assetFreeLeaf } from '../../../src/core/event/asset-free-leaf.js';
import { idtimestampHex } from '../../../src/core/massif/idtimestamp.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { hashPosPair64 } from '../../../src/core/mmr/hash-pos-pair64.js';
import { includedRoot } from '../../../src/core/mmr/included-root.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex } from '../../../src/core/mmr/leaf-count.js';
import { tenancyLogSubject } from '../../../src/core/receipt/log-claims.js';
import { attachInclusion, peakReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import { attachRfc9162Inclusion, signRoot } from '../../../src/core/receipt/rfc9162-receipt.js';
import { rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { sha256 } from '../../../src/core/sha256.js';
import type {
  AssetEventDocument,
  AssetFreeEventDocument,
  EventDocument,
} from '../../../src/core/statement/event-document.js';
import { statementHeader } from '../../../src/core/statement/signed-statement.js';
import { statementEntry } from '../../../src/core/statement/statement-entry.js';
import { readTemplate } from '../../../src/core/statement/vcon-template.js';
import { readFixture, type TestKeys } from '../cose/read-fixture.js';
import { softwareSigner } from '../cose/software-signer.js';

const KEYS = readFixture<TestKeys>('keys');

/** Who signs in the samples. */
export const sampleSigners: Readonly<Record<'issuer' | 'statementLog' | 'sealer' | 'stranger', Signer>> = {
  issuer: softwareSigner(KEYS.issuer),
  statementLog: softwareSigner(KEYS.statementLog),
  sealer: softwareSigner(KEYS.sealer),
  stranger: softwareSigner(KEYS.stranger),
};

export const SAMPLE_TENANCY = '112758ce-a8cb-4924-8df8-fcba1e31f8b0';
export const SAMPLE_SUBJECT = 'vcon://0192e8f5-0000-7000-8000-000000000001';
export const SAMPLE_ISSUER = `did:web:archive.example:archivist:v1:didweb:${SAMPLE_TENANCY}`;
export const SAMPLE_STATEMENT_LOG = { issuer: 'https://archive.example', subject: 'statements/private' };
export const SAMPLE_TENANCY_LOG = { issuer: 'https://archive.example', subject: tenancyLogSubject(SAMPLE_TENANCY) };
/** As the conserver writes it: Python's separators, ASCII alone. */
export const SAMPLE_VCON = utf8(
  '{"vcon": "0.3.0", "uuid": "0192e8f5-0000-7000-8000-000000000001", "created_at": "2025-01-16T16:12:38+00:00", "parties": [{"name": "Zo\\u00eb"}], "dialog": [], "analysis": [], "attachments": []}',
);

/** Event attributes of the template for a vCon's bytes. */
export function sampleAttributes(vcon: Uint8Array, more: Record<string, string> = {}): Record<string, string> {
  return {
    arc_display_type: 'vcon_created',
    payload: toHex(sha256(vcon)),
    payload_hash_alg: 'SHA-256',
    payload_preimage_content_type: 'application/vcon',
    subject: SAMPLE_SUBJECT,
    timestamp_declared: '2025-01-16T16:12:38Z',
    vcon_operation: 'vcon_created',
    ...more,
  };
}

const COMMIT = { index: '0', idtimestamp: idtimestampHex(0x9470003611017900n) };

/** A frozen event of an asset with these attributes; its place is filled in by `logged`. */
export function sampleAssetEvent(attributes: Record<string, string>): AssetEventDocument {
  const principal = { issuer: 'https://idp.example', subject: 'conserver', display_name: 'Conserver', email: '' };
  return {
    identity: 'assets/0192e8f5-1111-7000-8000-000000000001/events/0192e8f5-2222-7000-8000-000000000001',
    asset_attributes: {},
    event_attributes: attributes,
    operation: 'Record',
    behaviour: 'RecordEvidence',
    timestamp_declared: '2025-01-16T16:12:38Z',
    timestamp_accepted: '2025-01-16T16:12:39Z',
    timestamp_committed: '2025-01-16T16:12:40.123Z',
    principal_declared: principal,
    principal_accepted: principal,
    tenant_identity: `tenant/${SAMPLE_TENANCY}`,
    merklelog_entry: { commit: COMMIT },
  };
}

/** A frozen asset-free event with these attributes. */
export function sampleAssetFreeEvent(attributes: Record<string, string>): AssetFreeEventDocument {
  return {
    identity: 'events/0192e8f5-3333-7000-8000-000000000001',
    attributes,
    trails: [SAMPLE_SUBJECT],
    event_type: 'vcon_created',
    origin_tenant: `tenant/${SAMPLE_TENANCY}`,
    created_by: 'conserver',
    created_at: '2025-01-16T16:12:39Z',
    merklelog_commit: COMMIT,
  };
}

/** A statement signed from template attributes. */
export async function sampleStatement(
  attributes: Record<string, string>,
  signer: Signer = sampleSigners.issuer,
  issuer = SAMPLE_ISSUER,
): Promise<Uint8Array> {
  const template = readTemplate(attributes)!;
  const header = statementHeader(template, { ...signer, issuer });
  return encodeSign1(await createSign1(header, template.payload, signer));
}

const others = Array.from({ length: 6 }, (_, at) => sha256(utf8(`other ${at}`)));
/** The sample is leaf 4 of 7. */
const PLACE = 4;
const leavesWith = (leaf: Uint8Array) => [...others.slice(0, PLACE), leaf, ...others.slice(PLACE)];

/** The receipt of a statement in a statement log of seven, in a history that no other statement shares. */
export async function statementLogReceipt(
  statement: Uint8Array,
  signer: Signer = sampleSigners.statementLog,
  name = SAMPLE_STATEMENT_LOG,
): Promise<Uint8Array> {
  return (await statementLogReceipts([statement], signer, name))[0]!;
}

/** The receipts of consecutive statements in one history of a statement log of seven. */
export async function statementLogReceipts(
  statements: readonly Uint8Array[],
  signer: Signer = sampleSigners.statementLog,
  name = SAMPLE_STATEMENT_LOG,
): Promise<Uint8Array[]> {
  const own = statements.map((statement) => rfc9162Leaf(statementEntry(statement)));
  const leaves = [...others.slice(0, PLACE), ...own, ...others.slice(PLACE)].slice(0, 7);
  const { nodes, peaks } = appendLeaves(rfc9162Parent, 0n, [], leaves);
  const root = await signRoot(rfc9162Root(peaks), 7n, signer, name);
  return own.map((_, at) => {
    const place = BigInt(PLACE + at);
    return attachRfc9162Inclusion(
      root,
      7n,
      place,
      rfc9162InclusionPath(place, 7n, (node) => nodes[Number(node)]!),
    );
  });
}

/** An event in a tenancy log of seven: with its place filled in, and its receipt. */
export async function logged<Event extends EventDocument>(
  event: Event,
  signer: Signer = sampleSigners.sealer,
  name = SAMPLE_TENANCY_LOG,
): Promise<{ event: Event; mmrReceipt: Uint8Array }> {
  const index = mmrIndex(BigInt(PLACE));
  const commit = { ...COMMIT, index: String(index) };
  const isAsset = 'merklelog_entry' in event;
  const placed = { ...event, ...(isAsset ? { merklelog_entry: { commit } } : { merklelog_commit: commit }) };
  const id = 0x9470003611017900n;
  const leaf =
    'merklelog_entry' in event ? assetEventLeaf(event, id) : assetFreeLeaf(event, id, assetFreeExtraBytes(event));
  const { nodes, size } = appendLeaves(hashPosPair64, 0n, [], leavesWith(leaf));
  const path = inclusionProofPath(size, index).map((node) => nodes[Number(node)]!);
  const signed = await peakReceipt(includedRoot(index, leaf, path), signer, name);
  return { event: placed, mmrReceipt: attachInclusion(signed, index, path, 'draft') };
}
