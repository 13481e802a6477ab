import { decodeCbor } from '../../core/cose/cbor.js';
import { keyThumbprint } from '../../core/cose/cose-key.js';
import { decodeSign1 } from '../../core/cose/sign1.js';
import { VerificationError } from '../../core/errors.js';
import { readKeyManifest } from '../../core/keys/read-key-manifest.js';
import { idtimestampMs, nextIdtimestamp } from '../../core/massif/idtimestamp.js';
import { peaks as peakIndices } from '../../core/mmr/peaks.js';
import { readLogClaims } from '../../core/receipt/log-claims.js';
import { verifyReceiptSignature } from '../../core/verify/verify-receipt.js';
import { growTree } from '../../ledger/grown-tree.js';
import type { LogExplanation } from '../../ledger/halted/explain-log.js';
import { putRecovered } from '../../ledger/halted/halted-log-store.js';
import { deleteIntake } from '../../ledger/intake-store.js';
import { enterKeyManifest } from '../../ledger/keys-log/enter-key-manifest.js';
import { statementLeafEntry } from '../../ledger/leaf-entries.js';
import { insertLeaves, type LeafRow } from '../../ledger/leaf-store.js';
import type { LogState } from '../../ledger/log.js';
import { ownTrust, sealKeyId } from '../../ledger/log-keys.js';
import { appendNodes, openPageOf, readNodes, readOpenPage } from '../../ledger/node-page-store.js';
import { generationSealKey } from '../../ledger/seal-object.js';
import { insertSeal, type SealRow } from '../../ledger/seal-store.js';
import { treeRoot } from '../../ledger/tree-root.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Keyring } from '../../platform/keys/keyring.js';
import { type KeyManifestRow, lockKeyManifests } from '../../platform/keys/manifest/key-manifest-store.js';
import { manifestRows } from '../../platform/keys/manifest/manifest-rows.js';
import { nodeVerify } from '../../platform/keys/node-verify.js';
import { putSigningKey } from '../../platform/keys/signing-key-store.js';
import type { Logger } from '../../platform/logger.js';
import type { Tx } from '../../platform/postgres/database.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import { knownSeal } from './known-seal.js';
import { type AllManifests, type LostManifestDeps, lostManifests } from './lost-manifests.js';

export interface RecoverKeysDeps extends LostManifestDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keyring: Pick<Keyring, 'everyKey'>;
  readonly adoptNow: () => Promise<void>;
  /** Certifies the keys of tenancies again, if a revoked issuer key signed their certificates. */
  readonly recertify: (tx: Tx) => Promise<unknown>;
}

/** A published seal of the keys log that the database has lost, with everything under it that is new. */
interface LostSeal {
  readonly seal: SealRow;
  readonly sizeBefore: bigint;
  readonly leaves: readonly LeafRow[];
  readonly nodes: readonly Uint8Array[];
}

/**
 * Brings back the end of the keys log that a restored database has lost. That log is never forked: its entries are the key
 * manifests, which the object store has in full and which the root key signed, so that the log can be made again exactly as
 * it was published, entry for entry and seal for seal. Everything is verified before anything is stored, in one
 * transaction. Resolves with the number of manifests that were brought back.
 * @throws {ApiError} conflict if manifests are missing, or if they do not make the tree that the published seals sign
 */
export async function recoverKeysLog(
  deps: RecoverKeysDeps,
  log: LogState,
  { objects }: LogExplanation,
): Promise<number> {
  await knownSeal(deps, log);
  const manifests = await lostManifests(deps, log);
  const seals = await lostSeals(deps, log, manifests.rows, objects?.number ?? 0n);
  await deps.database.inTransaction('system', (tx) => storeRecovered(tx, log, manifests, seals));
  await deps.adoptNow();
  const stolen = manifests.lost.some(({ content }) => content.keys.some(isStolenIssuer));
  if (stolen) await deps.database.inTransaction('system', deps.recertify);
  const { length } = manifests.lost;
  if (length > 0 || seals.length > 0)
    deps.logger.warn({ logId: log.logId, manifests: length, seals: seals.length }, 'the keys log was brought back');
  return length;
}

const isStolenIssuer = ({ role, state }: { readonly role: string; readonly state: string }): boolean =>
  role === 'issuer' && state === 'revoked';

/** The lost seals in their order. The trees under them are made again from the manifests. */
async function lostSeals(
  deps: RecoverKeysDeps,
  log: LogState,
  rows: readonly KeyManifestRow[],
  last: bigint,
): Promise<LostSeal[]> {
  let peaks = await deps.database.inTransaction('system', async (tx) => {
    const indices = peakIndices(log.sealedSize);
    return indices.map(await readNodes(tx, log, indices));
  });
  let at: LogState = log;
  const seals: LostSeal[] = [];
  for (let number = log.sealNumber + 1n; number <= last; number += 1n) {
    const { leaves, signed } = await publishedSeal(deps, log, number);
    const entries = rows.slice(Number(at.leaves), Number(leaves));
    if (BigInt(entries.length) !== leaves - at.leaves || entries.length === 0)
      throw different(number, `it covers ${leaves} manifests, ${rows.length} are known`);
    const placed = placeManifests(deps, at, entries);
    const tree = growTree(at, peaks, entries.map(leafOf));
    const root = treeRoot(log.structure, tree.peaks);
    const keyId = await signerOf(deps, log, number, signed, root);
    const sealedAtMs = BigInt(readKeyManifest(entries.at(-1)!.manifest).manifest.issuedAtMs);
    const seal = { sealNumber: number, size: tree.size, leaves, keyId, sealedAtMs, root, signed };
    seals.push({ seal, sizeBefore: at.sealedSize, leaves: placed, nodes: tree.nodes });
    at = { ...at, leaves, sealedSize: tree.size, lastIdtimestamp: placed.at(-1)!.idtimestamp };
    peaks = [...tree.peaks];
  }
  return seals;
}

const leafOf = ({ entryId, manifest }: KeyManifestRow): Uint8Array =>
  statementLeafEntry({ tenantId: '', eventId: entryId, entry: manifest }).leaf(0n, '');

function placeManifests({ clock }: RecoverKeysDeps, log: LogState, entries: readonly KeyManifestRow[]): LeafRow[] {
  let last = log.lastIdtimestamp;
  return entries.map(({ entryId }, place) => {
    last = nextIdtimestamp(last, clock.now());
    return {
      entryId,
      entryKind: 'statement',
      entryTenantId: log.tenantId,
      leafIndex: log.leaves + BigInt(place),
      idtimestamp: last,
      timestampCommitted: new Date(idtimestampMs(last)).toISOString(),
      trieKey: null,
      extraBytes: null,
    };
  });
}

function different(number: bigint, why: string): ApiError {
  return new ApiError(
    'conflict',
    `Published seal ${number} of the keys log is not over these key manifests: ${why}. Restore the database's newest backup. See docs/operate/halted-log.md.`,
  );
}

async function publishedSeal({ objectStore }: RecoverKeysDeps, { logId }: LogState, number: bigint) {
  const bytes = await objectStore.get(generationSealKey(logId, 0, number));
  try {
    const [leaves, signed] = decodeCbor(bytes!) as unknown[];
    if ((typeof leaves === 'number' || typeof leaves === 'bigint') && signed instanceof Uint8Array)
      return { leaves: BigInt(leaves), signed };
  } catch (error) {
    if (!(error instanceof VerificationError || error instanceof TypeError)) throw error;
  }
  throw different(number, 'it cannot be read');
}

/** The id of the key that signed a root. @throws {ApiError} conflict if no key of the log did */
async function signerOf(
  { keyring }: RecoverKeysDeps,
  log: LogState,
  number: bigint,
  signed: Uint8Array,
  root: Uint8Array,
): Promise<string> {
  try {
    const sign1 = decodeSign1(signed);
    const trust = ownTrust({ keyring, verifySignature: nodeVerify }, log);
    const claims = readLogClaims(sign1.protectedHeader);
    const key = await verifyReceiptSignature({ sign1, ...claims }, root, trust, 'the signed root');
    return sealKeyId(keyThumbprint(key), 0);
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw different(number, error.message);
  }
}

async function storeRecovered(tx: Tx, log: LogState, manifests: AllManifests, seals: readonly LostSeal[]) {
  await lockKeyManifests(tx);
  for (const { content, ...row } of manifests.lost) {
    if (!(await enterKeyManifest(tx, log, row)))
      throw new ApiError(
        'conflict',
        'The key manifests have changed since the request began: list the keys, and try again.',
      );
    // In the order of each change: a role has only one active row.
    for (const key of manifestRows(content).toReversed()) await putSigningKey(tx, log.tenantId, key);
  }
  let openPage: readonly Uint8Array[] = await readOpenPage(tx, log, log.sealedSize);
  for (const { seal, sizeBefore, leaves, nodes } of seals) {
    const ids = leaves.map(({ entryId }) => entryId);
    await executeAll(tx, [
      ...appendNodes(log, sizeBefore, openPage, nodes),
      ...insertLeaves(log, leaves),
      deleteIntake(log, ids),
      ...insertSeal(log, seal),
    ]);
    openPage = openPageOf(seal.size, [...openPage, ...nodes]);
  }
  const last = seals.at(-1);
  if (!last) return;
  const { size, leaves, sealNumber } = last.seal;
  const lastIdtimestamp = last.leaves.at(-1)!.idtimestamp;
  if (!(await putRecovered(tx, log, { size, leaves, sealNumber, lastIdtimestamp })))
    throw new ApiError(
      'conflict',
      'The log has changed since the request began. Run "vcon-archivist logs" before you try again.',
    );
}
