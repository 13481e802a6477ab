import { expect } from 'vitest';
import { equalBytes, toHex } from '../../src/core/bytes.js';
import { idtimestampMs } from '../../src/core/massif/idtimestamp.js';
import { appendLeaves } from '../../src/core/mmr/append-leaves.js';
import { leafCount } from '../../src/core/mmr/leaf-count.js';
import { peaks } from '../../src/core/mmr/peaks.js';
import { rfc9162Leaf } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { recomputeMassif } from '../../src/core/verify/verify-massif.js';
import { verifyMmrReceipt, verifyRfc9162Receipt } from '../../src/core/verify/verify-receipt.js';
import { verifySeal } from '../../src/core/verify/verify-seal.js';
import { FIRST_ENTRY, waitingEntries } from '../../src/ledger/intake-store.js';
import { type LeafRow, leafRange } from '../../src/ledger/leaf-store.js';
import { type LogRef, type LogState, parentHash } from '../../src/ledger/log.js';
import { countedKeys } from '../../src/ledger/log-keys.js';
import { findLog } from '../../src/ledger/log-store.js';
import {
  headMassif,
  massifLeaves,
  massifObjectKey,
  massifView,
  sealFileObjectKey,
  sealView,
} from '../../src/ledger/massif-view.js';
import { readNodeRange, readNodes } from '../../src/ledger/node-page-store.js';
import { mmrReceipt, mmrReceipts, statementReceipt, statementReceipts } from '../../src/ledger/receipts.js';
import { sealObjectBytes, sealObjectKey } from '../../src/ledger/seal-object.js';
import { findSeal } from '../../src/ledger/seal-store.js';
import { statementBytes } from '../../src/ledger/statement-store.js';
import type { Tx } from '../../src/platform/postgres/database.js';
import type { LedgerRig } from './ledger-rig.js';

async function leafHash(tx: Tx, rig: LedgerRig, row: LeafRow): Promise<Uint8Array> {
  if (row.entryKind !== 'statement') return rig.entries.leaf(row.entryId, row.idtimestamp, row.timestampCommitted);
  return rfc9162Leaf((await statementBytes(tx, row.entryTenantId, row.entryId))!);
}

/** Verifies an entry's receipt as a stranger would and gives its bytes. */
export async function provenReceipt(tx: Tx, rig: LedgerRig, log: LogState, row: LeafRow): Promise<Uint8Array> {
  if (log.structure === 'MMR_SHA256') {
    const receipt = (await mmrReceipt(tx, log, row.entryId, 'draft', countedKeys(rig.keyring)))!;
    const trust = { logKeys: rig.keyring.jwks('seal'), log: { subject: log.name } };
    await verifyMmrReceipt(receipt, await leafHash(tx, rig, row), trust);
    return receipt;
  }
  const receipt = (await statementReceipt(tx, log, row.entryId, countedKeys(rig.keyring)))!;
  const trust = { logKeys: rig.keyring.jwks('statement_receipt'), log: { subject: log.name } };
  await verifyRfc9162Receipt(receipt, (await statementBytes(tx, row.entryTenantId, row.entryId))!, trust);
  return receipt;
}

async function auditMassifs(tx: Tx, rig: LedgerRig, log: LogState): Promise<void> {
  const head = headMassif(log, log.leaves);
  for (let massif = 0; massif <= head; massif += 1) {
    const view = (await massifView(tx, log, massif))!;
    const read = recomputeMassif(view.bytes);
    const indices = peaks(read.size);
    const seal = (await sealView(tx, log, massif))!;
    const trust = { logKeys: rig.keyring.jwks('seal'), log: { subject: log.name } };
    const { state } = await verifySeal(seal.bytes, indices.map(await readNodes(tx, log, indices)), trust);
    expect(state.size).toBe(read.size);
    const [file, sealFile] = [massifObjectKey, sealFileObjectKey].map((key) => rig.objectStore.get(key(log, massif)));
    expect(await file).toEqual(view.full ? new Uint8Array(view.bytes) : undefined);
    expect(await sealFile).toEqual(view.full ? new Uint8Array(seal.bytes) : undefined);
    if (massif < head) expect([seal.full, leafCount(state.size) % massifLeaves(log)]).toEqual([true, 0n]);
  }
}

async function auditSealObjects(tx: Tx, rig: LedgerRig, log: LogState): Promise<void> {
  for (let number = 1n; number <= log.sealNumber; number += 1n) {
    const kept = await rig.objectStore.get(sealObjectKey(log, number));
    const seal = (await findSeal(tx, log, number))!;
    expect(equalBytes(kept!, sealObjectBytes(log.structure, seal))).toBe(true);
  }
  expect(await rig.objectStore.get(sealObjectKey(log, log.sealNumber + 1n))).toBeUndefined();
}

/** Many receipts read at once, whatever seals and keys they are under, are the ones that each entry has alone. */
async function auditReceiptsTogether(
  tx: Tx,
  rig: LedgerRig,
  log: LogState,
  accepted: readonly string[],
  alone: Remembered,
) {
  const keys = countedKeys(rig.keyring);
  const together =
    log.structure === 'MMR_SHA256'
      ? await mmrReceipts(tx, log, accepted, 'draft', keys)
      : await statementReceipts(tx, log, accepted, keys);
  expect([...together.keys()].sort()).toEqual([...accepted].sort());
  for (const [entryId, receipt] of together) expect(toHex(receipt)).toBe(alone.get(entryId));
}

/** What auditors remember between two looks at a log: the receipts that they have seen. */
export type Remembered = Map<string, string>;

/**
 * Recomputes a whole log from its entries and fails the test on anything that does not hold: each accepted entry in it
 * once, times that rise, the tree, every seal, massif and receipt, and no receipt other than the one seen before.
 */
export async function auditLog(
  rig: LedgerRig,
  ref: LogRef,
  accepted: readonly string[],
  remembered: Remembered = new Map(),
): Promise<void> {
  await rig.database.inTransaction('system', async (tx) => {
    const log = (await findLog(tx, ref))!;
    expect(log.halted).toBeNull();
    expect([log.sealedSize, log.publishedSize, log.publishedNumber]).toEqual([log.size, log.size, log.sealNumber]);
    expect(await waitingEntries(tx, ref, FIRST_ENTRY, 10)).toEqual([]);
    const rows = await leafRange(tx, ref, 0n, log.leaves + 1n);
    expect(rows.map((row) => row.leafIndex)).toEqual(rows.map((_, index) => BigInt(index)));
    expect(rows.map((row) => row.entryId).sort()).toEqual([...accepted].sort());
    for (const [index, row] of rows.entries()) {
      expect(row.timestampCommitted).toBe(new Date(idtimestampMs(row.idtimestamp)).toISOString());
      if (index > 0) expect(row.idtimestamp > rows[index - 1]!.idtimestamp).toBe(true);
    }
    const hashes = [];
    for (const row of rows) hashes.push(await leafHash(tx, rig, row));
    const tree = appendLeaves(parentHash(log.structure), 0n, [], hashes);
    expect((await readNodeRange(tx, ref, 0n, log.size)).map(toHex)).toEqual(tree.nodes.map(toHex));
    await auditSealObjects(tx, rig, log);
    if (log.structure === 'MMR_SHA256' && log.leaves > 0n) await auditMassifs(tx, rig, log);
    for (const row of rows) {
      const receipt = toHex(await provenReceipt(tx, rig, log, row));
      expect(receipt).toBe(remembered.get(row.entryId) ?? receipt);
      remembered.set(row.entryId, receipt);
    }
    await auditReceiptsTogether(tx, rig, log, accepted, remembered);
  });
}
