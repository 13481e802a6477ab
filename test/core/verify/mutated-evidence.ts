import { sign } from 'node:crypto';
import { fromBase64, fromHex, toBase64, toHex, utf8 } from '../../../src/core/bytes.js';
import { keyThumbprint } from '../../../src/core/cose/cose-key.js';
import { createSign1, encodeSign1 } from '../../../src/core/cose/sign1.js';
import { VerificationError } from '../../../src/core/errors.js';
import { assetFreeRecordDigest } from '../../../src/core/event/asset-free-record.js';
import { signKeyManifest } from '../../../src/core/keys/sign-key-manifest.js';
import {
  decodeKeyManifests,
  encodeKeyManifests,
  verifyKeyManifests,
} from '../../../src/core/keys/verify-key-manifests.js';
import { appendLeaves } from '../../../src/core/mmr/append-leaves.js';
import { inclusionProofPath } from '../../../src/core/mmr/inclusion-proof-path.js';
import { mmrIndex } from '../../../src/core/mmr/leaf-count.js';
import { peaks as peakIndices } from '../../../src/core/mmr/peaks.js';
import { mmrReceiptInForm, readMmrReceipt } from '../../../src/core/receipt/mmr-receipt.js';
import {
  attachRfc9162Consistency,
  readRfc9162ConsistencyReceipt,
  readRfc9162Receipt,
  signRoot,
} from '../../../src/core/receipt/rfc9162-receipt.js';
import { readSeal } from '../../../src/core/receipt/seal.js';
import { rfc9162ConsistencyPath } from '../../../src/core/rfc9162/rfc9162-consistency-path.js';
import { rfc9162InclusionPath } from '../../../src/core/rfc9162/rfc9162-inclusion-path.js';
import { rfc9162Leaf } from '../../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../../src/core/rfc9162/rfc9162-root.js';
import { readEventDocument } from '../../../src/core/statement/event-document.js';
import { eventStatement } from '../../../src/core/statement/event-statement.js';
import {
  assembleTransparentStatement,
  readTransparentStatement,
} from '../../../src/core/statement/transparent-statement.js';
import { readTemplate } from '../../../src/core/statement/vcon-template.js';
import { encodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { cosignatureMessage, encodeCosignature } from '../../../src/core/tlog/cosignature.js';
import { encodeNote, type NoteKey, NoteKeyType, signatureLine } from '../../../src/core/tlog/signed-note.js';
import { encodeTlogProof } from '../../../src/core/tlog/tlog-proof.js';
import { parseUnambiguousJson } from '../../../src/core/vcon/unambiguous-json.js';
import { uncoveredMembers } from '../../../src/core/verify/event-facts.js';
import { sealProof } from '../../../src/core/verify/proofs.js';
import { createVerdict, type Findings } from '../../../src/core/verify/verdict.js';
import { verifyConsistency, verifyRfc9162ConsistencyReceipt } from '../../../src/core/verify/verify-consistency.js';
import { verifyEvent } from '../../../src/core/verify/verify-event-in-log.js';
import { proveLog } from '../../../src/core/verify/verify-log.js';
import { verifyPublicAsset } from '../../../src/core/verify/verify-public-asset.js';
import { verifyReceipt } from '../../../src/core/verify/verify-receipt.js';
import { verifyStatement } from '../../../src/core/verify/verify-statement.js';
import { examineTransparentStatement, provenStatement } from '../../../src/core/verify/verify-transparent-statement.js';
import { verifyWitnessed } from '../../../src/core/verify/verify-witnessed.js';
import { newKeyPair } from '../../../src/platform/keys/new-key-pair.js';
import { nodeVerify as verifySignature } from '../../../src/platform/keys/node-verify.js';
import { firstManifest, sampleRoot } from '../keys/sample-manifests.js';
import { type Draw, mutatedBytes, mutatedCbor, mutatedJson } from './mutants.js';
import { sampleSealedLog } from './sample-sealed-log.js';
import {
  logged,
  SAMPLE_ISSUER,
  SAMPLE_STATEMENT_LOG,
  SAMPLE_TENANCY_LOG,
  SAMPLE_VCON,
  sampleAssetEvent,
  sampleAssetFreeEvent,
  sampleAttributes,
  sampleSigners,
  sampleStatement,
  statementLogReceipt,
} from './sample-transparent-statement.js';

/** One kind of evidence: how it is broken, and what is found about it. */
export interface MutatedKind {
  readonly good: Uint8Array;
  mutate(draw: Draw): Uint8Array;
  /** @throws {VerificationError} */
  examine(evidence: Uint8Array): Promise<Partial<Findings>> | Partial<Findings>;
  /** What proves in it: evidence that verifies has the same, also where the verdict would not show a difference. */
  readonly core?: (evidence: Uint8Array) => unknown;
  /** Genuine evidence of the same kind among what is put in: a mutant that is one of these whole is no false one. */
  readonly others?: readonly Uint8Array[];
}

type Kinds = Readonly<Record<string, MutatedKind>>;

const { issuer, sealer, statementLog, stranger } = sampleSigners;
const logKeys = [sealer.publicKey, statementLog.publicKey];
const issuerKeys = [issuer.publicKey];
const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';
const trust = { logKeys, log: SAMPLE_TENANCY_LOG, verifySignature };
const statementTrust = { logKeys, issuerKeys, verifySignature };

const log = sampleSealedLog({ leaves: 7 });
const elsewhere = sampleSealedLog({ leaves: 7, tenancy: OTHER_TENANCY });
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const bytesOf = (value: unknown) => utf8(JSON.stringify(value));

const ofReceipt = (receipt: Uint8Array) => {
  const { sign1, index, path } = readMmrReceipt(receipt);
  return [sign1.protectedBytes, index, path];
};
const ofStatementReceipt = (receipt: Uint8Array) => {
  const { sign1, treeSize, leafIndex, path } = readRfc9162Receipt(receipt);
  return [sign1.protectedBytes, treeSize, leafIndex, path];
};
const ofSeal = (seal: Uint8Array) => {
  const { sign1, state } = readSeal(seal);
  return [sign1.protectedBytes, state];
};
/** What a receipt of either structure proves with; undefined for one that cannot be read. */
function ofAnyReceipt(receipt: Uint8Array): string | undefined {
  for (const read of [ofStatementReceipt, ofReceipt])
    try {
      return told(read(receipt));
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
    }
  return undefined;
}
/**
 * The statement with its own genuine receipts. One that verifies in every part has all of them, once or more; others
 * beside them prove nothing.
 */
const ofTransparent = (genuine: readonly Uint8Array[]) => {
  const receiptsIn = (bytes: Uint8Array) => {
    const { entry, receipts } = readTransparentStatement(bytes);
    return { entry: toHex(entry), receipts: receipts.map((each) => ofAnyReceipt(each.bytes)) };
  };
  const known = genuine.map(receiptsIn);
  return (bytes: Uint8Array) => {
    const { entry, receipts } = receiptsIn(bytes);
    const own = known.filter((each) => each.entry === entry).flatMap((each) => each.receipts);
    return [entry, [...new Set(receipts.filter((each) => own.includes(each)))].sort()];
  };
};
export const told = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    each instanceof Uint8Array ? toHex(each) : typeof each === 'bigint' ? String(each) : each,
  );
const whole = (bytes: Uint8Array) => bytes;

const ofCbor = (good: Uint8Array, donors: readonly Uint8Array[]) => ({
  good,
  mutate: (draw: Draw) => mutatedCbor(good, donors, draw),
});
const ofJson = (good: Uint8Array) => ({ good, mutate: (draw: Draw) => utf8(mutatedJson(text(good), draw)) });
const ofBytes = (good: Uint8Array, donors: readonly Uint8Array[] = []) => ({
  good,
  mutate: (draw: Draw) => mutatedBytes(good, donors, draw),
});

/** A statement with its receipt and, of each kind, its event in a tenancy's log. */
async function transparentStatement(
  of: 'asset' | 'asset-free' | 'recorded' | 'registered',
  operation = 'vcon_created',
) {
  const attributes = sampleAttributes(SAMPLE_VCON, { vcon_operation: operation });
  const free = sampleAssetFreeEvent(attributes);
  const recorded = { ...free, created_at: '1737045159000' };
  const statement = of === 'recorded' ? await recordedStatement(recorded) : await sampleStatement(attributes);
  const events = {
    asset: sampleAssetEvent(attributes),
    'asset-free': free,
    recorded,
    registered: sampleAssetEvent({ ...attributes, signed_statement: toBase64(statement) }),
  };
  return assembleTransparentStatement(statement, {
    rfc9162Receipt: await statementLogReceipt(statement),
    ...(await logged(events[of])),
  });
}

async function recordedStatement(event: ReturnType<typeof sampleAssetFreeEvent>): Promise<Uint8Array> {
  const digest = assetFreeRecordDigest({ ...event, event_type: event.event_type! });
  const template = readTemplate(event.attributes)!;
  const record = { identity: event.identity, digest };
  const { header, payload } = eventStatement({ template, record }, { ...issuer, issuer: SAMPLE_ISSUER });
  return encodeSign1(await createSign1(header, payload, issuer));
}

function examined(bytes: Uint8Array, document = SAMPLE_VCON) {
  return examineTransparentStatement(bytes, {
    ...statementTrust,
    document,
    statementLog: SAMPLE_STATEMENT_LOG,
    tenancyLog: SAMPLE_TENANCY_LOG,
  });
}

async function statementKinds(): Promise<Kinds> {
  const made = await Promise.all(
    (['asset', 'asset-free', 'recorded', 'registered'] as const).map((of) => transparentStatement(of)),
  );
  const [asset] = made as [Uint8Array];
  const other = await transparentStatement('asset', 'vcon_deleted');
  const statement = readTransparentStatement(asset).entry;
  const receipt = await statementLogReceipt(statement);
  const strange = await sampleStatement(sampleAttributes(SAMPLE_VCON), stranger);
  const donors = [...made, other, receipt, strange, await elsewhere.receipt(2), await log.receipt(3)];
  const transparent = (good: Uint8Array): MutatedKind => ({
    ...ofCbor(good, donors),
    core: ofTransparent([...made, other]),
    others: [...made, other],
    examine: (bytes) => examined(bytes),
  });
  const indented = utf8(JSON.stringify(JSON.parse(text(SAMPLE_VCON)), undefined, 1));
  return {
    'a transparent statement of an asset event': transparent(asset),
    'a transparent statement of an asset-free event': transparent(made[1]!),
    'a transparent statement that states a record': transparent(made[2]!),
    'a transparent statement of a registered statement': transparent(made[3]!),
    'the vCon of a transparent statement': {
      ...ofJson(indented),
      examine: async (bytes) => {
        const { claims, ...findings } = await examined(asset, bytes);
        // Digest and form are of the given file; that it is the vCon of the statement must not be said of another one.
        const same =
          JSON.stringify(sorted(JSON.parse(text(bytes)))) === JSON.stringify(sorted(JSON.parse(text(indented))));
        const said = claims.some(({ kind }) => kind === 'document');
        return { ...findings, claims: said && !same ? claims.map((each) => ({ ...each, piece: 'false' })) : claims };
      },
    },
    'a statement': {
      ...ofCbor(statement, [strange, other]),
      core: (bytes) => readTransparentStatement(bytes).entry,
      others: [other],
      examine: async (bytes) => provenStatement(await verifyStatement(bytes, statementTrust), []),
    },
    'a receipt of a statement log': {
      ...ofCbor(receipt, donors),
      core: ofStatementReceipt,
      examine: (bytes) => verifyReceipt(bytes, { statement }, { ...trust, log: SAMPLE_STATEMENT_LOG, treeSize: 7n }),
    },
  };
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return Array.isArray(value) ? value.map(sorted) : value;
  return Object.entries(value)
    .sort()
    .map(([name, each]) => [name, sorted(each)]);
}

async function logKinds(): Promise<Kinds> {
  const event = log.events[2]!;
  const receipt = await log.receipt(2);
  const [seal, otherSeal, olderSeal, firstSeal] = await Promise.all([
    log.seal(7),
    elsewhere.seal(7),
    log.seal(6),
    log.seal(4),
  ]);
  const donors = [await elsewhere.receipt(2), await log.receipt(3), await log.receipt(2, 4), seal];
  const [first, massif] = [log.massif(0), log.massif(1)];
  const receiptKind = (good: Uint8Array): MutatedKind => ({
    ...ofCbor(good, donors),
    core: ofReceipt,
    examine: (bytes) => verifyReceipt(bytes, { event }, trust),
  });
  const proven = async (files: readonly { massif: Uint8Array; seal: Uint8Array }[]) => {
    const claims: Findings['claims'][number][] = [];
    for await (const { seal: read } of proveLog(files, trust))
      claims.push({ kind: 'log', piece: 'log', facts: { size: String(read.state.size) }, by: [sealProof(read)] });
    return claims;
  };
  return {
    'a receipt of a tenancy log': receiptKind(receipt),
    'a receipt of a tenancy log in the stock form': receiptKind(mmrReceiptInForm(receipt, 'map')),
    'the JSON of an event': {
      ...ofJson(bytesOf({ ...event, confirmation_status: 'CONFIRMED', from: '0x00' })),
      examine: async (bytes) => {
        const json = parseUnambiguousJson(text(bytes));
        const read = readEventDocument(json);
        return createVerdict(
          await verifyReceipt(receipt, { event: read }, trust),
          uncoveredMembers(read, json as object),
        );
      },
    },
    'a seal': {
      ...ofCbor(seal, [otherSeal, olderSeal, ...donors]),
      core: ofSeal,
      examine: async (bytes) => ({ claims: await proven([{ massif, seal: bytes }]) }),
    },
    'a newer seal beside an older one': {
      ...ofCbor(seal, [otherSeal, olderSeal]),
      core: ofSeal,
      examine: (bytes) => verifyConsistency({ seal: olderSeal }, { seal: bytes, massifs: [massif] }, trust),
    },
    'a massif and the events in it': {
      ...ofBytes(massif, [first, elsewhere.massif(1)]),
      core: whole,
      examine: async (bytes) => {
        const claims = await proven([
          { massif: first, seal: firstSeal },
          { massif: bytes, seal },
        ]);
        const events = await Promise.all(
          log.events.slice(4).map((each) => verifyEvent(each, { massif: bytes, seal }, trust)),
        );
        return createVerdict({ claims }, ...events);
      },
    },
  };
}

/** A public statement log of five entries, and its root at each size. */
function statementLogOf(entries: readonly Uint8Array[]) {
  const at = (size: number) => appendLeaves(rfc9162Parent, 0n, [], entries.slice(0, size).map(rfc9162Leaf));
  const { nodes } = at(entries.length);
  const nodeAt = (node: bigint) => nodes[Number(node)]!;
  return { root: (size: number) => rfc9162Root(at(size).peaks), nodeAt };
}

async function witnessKinds(): Promise<Kinds> {
  const event = log.events[2]!;
  const seal = await log.seal(7);
  const size = BigInt(log.nodes.length);
  const nodes = (indices: readonly bigint[]) => indices.map((index) => log.nodes[Number(index)]!);
  const inclusion = {
    path: nodes(inclusionProofPath(size, mmrIndex(2n))).map(toHex),
    peaks: nodes(peakIndices(size)).map(toHex),
  };
  const entries = [utf8('a'), seal, utf8('b'), utf8('c'), utf8('d')];
  const tree = statementLogOf(entries);
  const { publicKey, privateKey } = newKeyPair({ type: 'ed25519' });
  const key: NoteKey = {
    name: 'witness.example',
    type: NoteKeyType.cosignature,
    publicKey: fromBase64(publicKey.export({ format: 'jwk' }).x!),
  };
  const checkpoint = encodeCheckpoint({ origin: 'log.example', size: 5n, root: tree.root(5) });
  const signature = new Uint8Array(sign(null, cosignatureMessage(1n, checkpoint), privateKey));
  const note = encodeNote(checkpoint, [signatureLine(key, encodeCosignature(1n, signature))]);
  const proof = encodeTlogProof({ index: 1n, path: rfc9162InclusionPath(1n, 5n, tree.nodeAt), checkpoint: note });
  const examine = async (parts: { seal?: Uint8Array; proof?: Uint8Array; inclusion?: Uint8Array }) => {
    const read = JSON.parse(text(parts.inclusion ?? bytesOf(inclusion))) as typeof inclusion;
    const lists = [read?.path, read?.peaks];
    if (!lists.every((list) => Array.isArray(list) && list.every((each) => /^[0-9a-f]{64}$/.test(String(each)))))
      throw new VerificationError('malformed', 'not lists of hashes');
    const given = {
      seal: parts.seal ?? seal,
      proof: text(parts.proof ?? utf8(proof)),
      path: read.path.map(fromHex),
      peaks: read.peaks.map(fromHex),
    };
    const { proofs } = await verifyWitnessed(event, given, { ...trust, witnesses: [key], quorum: 1 });
    return { claims: [{ kind: 'witnessed' as const, piece: 'seal', facts: {}, by: proofs }] };
  };
  const root = await signRoot(tree.root(5), 5n, statementLog, SAMPLE_STATEMENT_LOG);
  const consistency = attachRfc9162Consistency(root, 3n, 5n, rfc9162ConsistencyPath(3n, 5n, tree.nodeAt));
  return {
    'a witnessed seal': {
      ...ofCbor(seal, [await elsewhere.seal(7)]),
      core: whole,
      examine: (bytes) => examine({ seal: bytes }),
    },
    'the proof of a witnessed seal': { ...ofBytes(utf8(proof)), examine: (bytes) => examine({ proof: bytes }) },
    'the place of an event in a witnessed seal': {
      ...ofJson(bytesOf(inclusion)),
      core: (bytes) => {
        const { path, peaks } = JSON.parse(text(bytes)) as typeof inclusion;
        return [path, peaks];
      },
      examine: (bytes) => examine({ inclusion: bytes }),
    },
    'a receipt of consistency': {
      ...ofCbor(consistency, [root]),
      core: (bytes) => {
        const { sign1, size1, size2, path } = readRfc9162ConsistencyReceipt(bytes);
        return [sign1.protectedBytes, size1, size2, path];
      },
      examine: async (bytes) => {
        const read = await verifyRfc9162ConsistencyReceipt(bytes, tree.root(3), tree.root(5), {
          ...trust,
          log: SAMPLE_STATEMENT_LOG,
        });
        const facts = { older_size: String(read.size1), size: String(read.size2) };
        return { claims: [{ kind: 'extension', piece: 'receipt', facts, by: [] }] };
      },
    },
  };
}

async function otherKinds(): Promise<Kinds> {
  const identity = 'publicassets/0192e8f5-1111-7000-8000-000000000001';
  const made = sampleSealedLog({
    leaves: 3,
    event: (leaf) => ({
      identity: `${identity}/events/0192e8f5-2222-7000-8000-00000000000${leaf}`,
      operation: leaf === 0 ? 'NewAsset' : 'Record',
      timestamp_accepted: `2025-01-16T16:12:3${leaf}Z`,
      tenant_identity: `tenant/${OTHER_TENANCY}`,
      asset_attributes: leaf === 1 ? { colour: 'blue' } : { colour: 'red', weight: '1' },
    }),
  });
  const history = await Promise.all(
    made.events.map(async (event, leaf) => ({ event, receipt: await made.receipt(leaf) })),
  );
  const asset = { identity, attributes: { colour: 'red', weight: '1' } };
  const root = sampleRoot(1);
  const manifest = encodeKeyManifests([await signKeyManifest(firstManifest(root.publicKey), root)]);
  return {
    'a public asset': {
      ...ofJson(bytesOf(asset)),
      examine: (bytes) => {
        const read = parseUnambiguousJson(text(bytes)) as typeof asset;
        if (typeof read.identity !== 'string' || typeof read.attributes !== 'object' || !read.attributes)
          throw new VerificationError('malformed', 'not an asset');
        return verifyPublicAsset(read, history, trust);
      },
    },
    'a key manifest': {
      ...ofCbor(manifest, []),
      core: whole,
      examine: async (bytes) => {
        const read = await verifyKeyManifests(
          decodeKeyManifests(bytes),
          keyThumbprint(root.publicKey),
          verifySignature,
        );
        const facts = { payload_hash: toHex(read.at(-1)!.hash) };
        return { claims: [{ kind: 'log', piece: 'manifest', facts, by: [] }] };
      },
    },
  };
}

/** Every kind of evidence, good, and how to break it. */
export async function mutatedKinds(): Promise<Kinds> {
  const kinds = await Promise.all([statementKinds(), logKinds(), witnessKinds(), otherKinds()]);
  return Object.assign({}, ...kinds) as Kinds;
}
