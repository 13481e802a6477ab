import { FORK_EXTRA_BYTES, forkLeaf, forkTrieKey } from '../core/fork/fork-leaf.js';
import { readForkStatement } from '../core/fork/read-fork-statement.js';
import { rfc9162LeafWith } from '../core/rfc9162/rfc9162-leaf.js';
import { nodeSha256 } from '../platform/node-sha256.js';
import type { Tx } from '../platform/postgres/database.js';
import { readInGroups } from '../platform/postgres/read-in-groups.js';
import type { LeafEntry, WaitingEntry } from './leaf-source.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogState } from './log.js';
import { type StoredStatement, statementEntries } from './statement-store.js';

const statementLeaf = rfc9162LeafWith(nodeSha256);

/** The leaf of a statement, from its bytes. */
export function statementLeafEntry({ eventId, entry }: StoredStatement): LeafEntry {
  return { entryId: eventId, leaf: () => statementLeaf(entry) };
}

/** The leaf of a statement in an MMR log, where all statements begin a generation of the log. */
function forkLeafEntry({ eventId, entry }: StoredStatement): LeafEntry {
  return {
    entryId: eventId,
    trieKey: forkTrieKey(readForkStatement(entry).log, nodeSha256),
    extraBytes: FORK_EXTRA_BYTES,
    leaf: (idtimestamp) => forkLeaf(entry, idtimestamp, nodeSha256),
  };
}

/** How a log makes the leaf of a stored statement. */
export function storedLeafEntry({ structure }: Pick<LogState, 'structure'>): (stored: StoredStatement) => LeafEntry {
  return structure === 'MMR_SHA256' ? forkLeafEntry : statementLeafEntry;
}

/** Leaves of these entries by entry id: of statements from their stored bytes, of events from the leaf source. */
export async function leafEntries(
  tx: Tx,
  context: Pick<LedgerContext, 'leafSource'>,
  log: Pick<LogState, 'tenantId' | 'logId' | 'structure'>,
  entries: readonly WaitingEntry[],
): Promise<Map<string, LeafEntry>> {
  const statements = entries.filter((entry) => entry.entryKind === 'statement');
  const events = entries.filter((entry) => entry.entryKind !== 'statement');
  const [stored, eventLeaves] = await Promise.all([
    readInGroups(statements, (some) =>
      statementEntries(
        tx,
        some.map((entry) => ({ tenantId: entry.entryTenantId, eventId: entry.entryId })),
      ),
    ),
    readInGroups(events, (some) => context.leafSource.leaves(tx, log, some)),
  ]);
  return new Map([...stored.map(storedLeafEntry(log)), ...eventLeaves].map((leaf) => [leaf.entryId, leaf]));
}
