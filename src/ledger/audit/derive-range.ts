import { concatBytes, equalBytes } from '../../core/bytes.js';
import type { PublicJwk } from '../../core/cose/public-key.js';
import { keyHasKid } from '../../core/cose/verify-sign1.js';
import { VerificationError } from '../../core/errors.js';
import { idtimestampMs } from '../../core/massif/idtimestamp.js';
import { sizeOfLeaves } from '../../core/mmr/leaf-count.js';
import { type EventStatement, isRecordStatement, statedRecord } from '../../core/statement/event-statement.js';
import { type ReadStatement, readStatement } from '../../core/statement/signed-statement.js';
import { verifyStatement } from '../../core/verify/verify-statement.js';
import type { Tx } from '../../platform/postgres/database.js';
import { storedLeafEntry } from '../leaf-entries.js';
import type { LeafEntry } from '../leaf-source.js';
import { type LeafRow, leafRange } from '../leaf-store.js';
import type { LedgerContext } from '../ledger-context.js';
import type { LogState } from '../log.js';
import { LogInconsistent } from '../log-inconsistent.js';
import { readNodeRange } from '../node-page-store.js';
import { statementEntries } from '../statement-store.js';

const LEAF_BYTES = 32;
const NO_EXTRA_BYTES = new Uint8Array(24);

/** What the entries of some leaves of a log make, and what is stored for these leaves; can be sent between threads. */
export interface DerivedRange {
  readonly from: bigint;
  /** Excluded. */
  readonly to: bigint;
  /** 32 bytes each; zeros for a leaf that cannot be derived. */
  readonly leaves: Uint8Array;
  /** Places in the range of leaves that cannot be derived: the row or the entry is missing. */
  readonly underived: readonly number[];
  /** Of each leaf; 0 if its row is missing. */
  readonly idtimestamps: BigUint64Array;
  /** The stored nodes of these leaves in post order, 32 bytes each; undefined if one is missing. */
  readonly nodes: Uint8Array | undefined;
  readonly faults: readonly string[];
}

/** Derives the leaves `from` (included) to `to` (excluded) of a log again. */
export type DeriveRange = (log: LogState, from: bigint, to: bigint) => Promise<DerivedRange>;

/** What deriving reads and trusts. */
type DeriveContext = Pick<LedgerContext, 'database' | 'verifySignature' | 'leafSource' | 'statementSource'> & {
  /** Keys that sign the service's own statements. */
  readonly issuerKeys: readonly PublicJwk[];
};

/**
 * Derives leaves from their events or statements, in one transaction. Also compares the data stored with each leaf: trie
 * key, extra bytes, time of commit; and verifies the service's own statements.
 */
export function createDeriveRange(context: DeriveContext): DeriveRange {
  return (log, from, to) =>
    context.database.inTransaction('system', async (tx) => {
      const faults: string[] = [];
      const [rows, nodes] = await Promise.all([
        leafRange(tx, log, from, to),
        readNodeRange(tx, log, sizeOfLeaves(from), sizeOfLeaves(to)).catch((error: unknown) => {
          if (!(error instanceof LogInconsistent)) throw error;
          return undefined;
        }),
      ]);
      const count = Number(to - from);
      if (rows.length !== count) faults.push(`leaves ${from} to ${to - 1n}: some are missing`);
      const entries = await entriesOf(tx, context, log, rows, faults);
      const leaves = new Uint8Array(count * LEAF_BYTES);
      const idtimestamps = new BigUint64Array(count);
      const derived = new Set<number>();
      for (const row of rows) {
        const place = Number(row.leafIndex - from);
        idtimestamps[place] = row.idtimestamp;
        const leaf = derivedLeaf(log, row, entries.get(row.entryId), faults);
        if (!leaf) continue;
        leaves.set(leaf, place * LEAF_BYTES);
        derived.add(place);
      }
      const underived = Array.from({ length: count }, (_, place) => place).filter((place) => !derived.has(place));
      return { from, to, leaves, underived, idtimestamps, nodes: nodes && concatBytes(...nodes), faults };
    });
}

function derivedLeaf(
  log: LogState,
  row: LeafRow,
  entry: LeafEntry | undefined,
  faults: string[],
): Uint8Array | undefined {
  const place = `leaf ${row.leafIndex}`;
  if (!entry) {
    faults.push(`${place}: its ${row.entryKind} ${row.entryId} is missing`);
    return undefined;
  }
  if (row.timestampCommitted !== new Date(idtimestampMs(row.idtimestamp)).toISOString())
    faults.push(`${place}: timestamp_committed is not the time of its idtimestamp`);
  if (log.structure === 'MMR_SHA256') {
    if (!row.trieKey || !entry.trieKey || !equalBytes(row.trieKey, entry.trieKey))
      faults.push(`${place}: its trie key differs from that of its event`);
    if (!equalBytes(row.extraBytes ?? NO_EXTRA_BYTES, entry.extraBytes ?? NO_EXTRA_BYTES))
      faults.push(`${place}: its extra bytes differ from those of its event`);
  }
  return entry.leaf(row.idtimestamp, row.timestampCommitted);
}

/** The entries of these rows by their ids. Reports statements that do not match their events. */
async function entriesOf(
  tx: Tx,
  context: DeriveContext,
  log: LogState,
  rows: readonly LeafRow[],
  faults: string[],
): Promise<Map<string, LeafEntry>> {
  const statements = rows.filter((row) => row.entryKind === 'statement');
  const events = rows.filter((row) => row.entryKind !== 'statement');
  const wanted = statements.map((row) => ({ tenantId: row.entryTenantId, eventId: row.entryId }));
  const [stored, contents, eventLeaves] = await Promise.all([
    statementEntries(tx, wanted),
    statements.length > 0 ? context.statementSource.contents(tx, statements) : [],
    events.length > 0 ? context.leafSource.leaves(tx, log, events) : [],
  ]);
  const bytes = new Map(stored.map(({ eventId, entry }) => [eventId, entry]));
  // All at once: signatures are verified beside each other where the platform has threads for it.
  const found = await Promise.all(
    contents.map(({ entryId, content }) => {
      const entry = bytes.get(entryId);
      return entry && statementFault(context, entry, content);
    }),
  );
  for (const [place, { entryId }] of contents.entries())
    if (found[place]) faults.push(`the statement of event ${entryId}${found[place]}`);
  return new Map([...stored.map(storedLeafEntry(log)), ...eventLeaves].map((leaf) => [leaf.entryId, leaf]));
}

/** What is wrong with a statement; undefined if nothing is. */
async function statementFault(
  { issuerKeys, verifySignature }: DeriveContext,
  entry: Uint8Array,
  content: EventStatement,
): Promise<string | undefined> {
  try {
    const statement = readStatement(entry);
    if (!saysTheSame(statement, content)) return ' contradicts the event';
    // A registered statement is signed by another party; asset-free events have only our own statements.
    const { kid, sign1 } = statement;
    const named = kid ? issuerKeys.filter((key) => keyHasKid(key, kid)) : [];
    if (named.length > 0 || content.record) await verifyStatement(sign1, { issuerKeys: named, verifySignature });
    return undefined;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return `: ${error.message}`;
  }
}

/**
 * Whether a statement is about this vCon operation, and about this record if it names one: older statements name none.
 */
function saysTheSame(statement: ReadStatement, { template, record }: EventStatement): boolean {
  const stated = statedRecord(statement);
  if (stated && !(record && equalBytes(stated, record.digest))) return false;
  if (!template) return isRecordStatement(statement) && stated !== undefined && statement.subject === record.identity;
  return (
    statement.subject === template.subject &&
    statement.payloadHashAlg === template.payloadHashAlg &&
    statement.payloadHash !== undefined &&
    equalBytes(statement.payloadHash, template.payload)
  );
}
