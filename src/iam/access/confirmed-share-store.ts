import type { Tx } from '../../platform/postgres/database.js';
import type { Readers } from './past-grant.js';

/** A tenancy of this deployment with which another one has exchanged subjects: each has imported the other's wallet. */
interface ConfirmedShare {
  /** The other tenancy. */
  readonly tenantId: string;
  /** UUIDs of the subjects under which the requesting tenancy knows the other one. */
  readonly knownHereAs: readonly string[];
  /** UUIDs of the subjects under which the other tenancy knows the requesting one; its policies use them. */
  readonly knownThereAs: readonly string[];
}

/**
 * Returns the enabled tenancies that are mutually confirmed with this one. It reveals nothing else about them. If the
 * transaction may not read the requesting tenancy, the result is empty.
 */
export async function confirmedShares(tx: Tx, tenantId: string): Promise<ConfirmedShare[]> {
  const rows = await tx.query<{ other_tenancy: string; known_here_as: string[]; known_there_as: string[] }>(
    'SELECT other_tenancy, known_here_as, known_there_as FROM archivist.confirmed_shares($1)',
    [tenantId],
  );
  return rows.map((row) => ({
    tenantId: row.other_tenancy,
    knownHereAs: row.known_here_as,
    knownThereAs: row.known_there_as,
  }));
}

/** The tenancies that a tenancy shares with, by the uuid of each subject under which it knows them. */
export async function readersOf(tx: Tx, tenantId: string): Promise<Readers> {
  const readers = new Map<string, string[]>();
  for (const share of await confirmedShares(tx, tenantId))
    for (const subjectId of share.knownHereAs)
      readers.set(subjectId, [...(readers.get(subjectId) ?? []), share.tenantId]);
  return readers;
}
