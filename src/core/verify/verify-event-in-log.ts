import { equalBytes, fromHex, utf8 } from '../bytes.js';
import { VerificationError } from '../errors.js';
import { assetFreeExtraBytes } from '../event/asset-free-leaf.js';
import type { Massif } from '../massif/read-massif.js';
import { trieKey } from '../massif/trie-entry.js';
import { indexHeight } from '../mmr/index-height.js';
import { leafIndex } from '../mmr/leaf-count.js';
import { type ReadLogClaims, tenancyLogSubject, tenancyOfLog } from '../receipt/log-claims.js';
import { type EventDocument, isAssetEvent } from '../statement/event-document.js';
import { provenEvent } from './event-facts.js';
import { sealedLeafProof } from './proofs.js';
import { createVerdict, type Findings, type Verdict } from './verdict.js';
import { checkEventLog, eventCommit, eventLeaf } from './verify-event.js';
import { type ProvenMassif, type SealedMassif, verifySealOfMassif } from './verify-log.js';
import { recomputeMassif } from './verify-massif.js';
import type { ReceiptTrust } from './verify-receipt.js';

const NO_EXTRA_BYTES = new Uint8Array(24);

/**
 * Returns the key of an event in a log's trie (log format, section 3). It covers the identity, which the leaf of an
 * asset-free event does not. Returns undefined if the log names no tenancy.
 */
export function eventTrieKey(event: EventDocument, log: ReadLogClaims): Uint8Array | undefined {
  const tenancyUuid = tenancyOfLog(log);
  if (tenancyUuid === undefined) return undefined;
  const identity = event.identity.replace(/^public/, '');
  return isAssetEvent(event)
    ? trieKey(utf8(tenancyLogSubject(tenancyUuid)), identity)
    : trieKey(fromHex(tenancyUuid.replaceAll('-', '')), identity);
}

/**
 * Checks that a massif holds an event's leaf and its trie entry at the place that the event names.
 * @throws {VerificationError} `insufficient_data` if the place is not in this file, `leaf_mismatch`, `event_mismatch`
 */
export function checkEventInMassif(event: EventDocument, massif: Massif, log: ReadLogClaims): void {
  const { leaf, mmrIndex } = eventLeaf(event);
  if (indexHeight(mmrIndex) !== 0) throw new VerificationError('leaf_mismatch', `node ${mmrIndex} is not a leaf`);
  if (mmrIndex < massif.firstNode || mmrIndex >= massif.size)
    throw new VerificationError('insufficient_data', `massif ${massif.index} does not hold leaf ${mmrIndex}`);
  if (!equalBytes(massif.nodeAt(mmrIndex), leaf))
    throw new VerificationError('leaf_mismatch', `the log holds something else than this event at node ${mmrIndex}`);
  const entry = massif.entries[Number(leafIndex(mmrIndex) - massif.firstLeaf)]!;
  const key = eventTrieKey(event, log);
  if (key === undefined) throw new VerificationError('log_mismatch', 'the log names no tenancy');
  const known =
    eventCommit(event).idtimestamp.endsWith(entry.idtimestamp.toString(16).padStart(16, '0')) &&
    equalBytes(entry.key, key) &&
    equalBytes(entry.extraBytes, isAssetEvent(event) ? NO_EXTRA_BYTES : assetFreeExtraBytes(event));
  if (!known) throw new VerificationError('leaf_mismatch', `the log has leaf ${mmrIndex} under another identity`);
}

/**
 * Checks that a log holds an event: its leaf, recomputed from only its fields, is in the massif at the place that the
 * event names, the whole massif recomputes, and a trusted key sealed it. Resolves with the event's covered members.
 * The public form of an event is in the public tenancy's log: pin that log with `trust.log`. The trie entry of an
 * asset-free event must agree with its identity, but no signature covers that entry, so the identity is not a fact.
 * @throws {VerificationError} `leaf_mismatch`, `event_mismatch`, `insufficient_data` if the event is not yet sealed,
 * `log_mismatch` for another tenancy's log, and those of any massif and seal
 */
export async function verifyEvent(event: EventDocument, log: SealedMassif, trust: ReceiptTrust): Promise<Verdict> {
  const massif = recomputeMassif(log.massif);
  return createVerdict(eventInProvenMassif(event, { massif, seal: await verifySealOfMassif(log.seal, massif, trust) }));
}

/**
 * Returns what a proven massif proves of an event: its covered members, and its place in the log.
 * @throws {VerificationError} as `verifyEvent`
 */
export function eventInProvenMassif(event: EventDocument, { massif, seal }: ProvenMassif): Partial<Findings> {
  checkEventLog(seal, event);
  checkEventInMassif(event, massif, seal);
  const { leaf, mmrIndex } = eventLeaf(event);
  if (mmrIndex >= seal.state.size)
    throw new VerificationError(
      'insufficient_data',
      'the massif file holds the event, but its seal does not cover it yet',
    );
  return provenEvent(event, [sealedLeafProof(seal, leaf, mmrIndex)]);
}
