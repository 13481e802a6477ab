import type { Tx } from '../../platform/postgres/database.js';

/** A tenancy of this deployment with which another one has exchanged subjects: each holds the wallet of the other. */
export interface ConfirmedShare {
  /** The other tenancy. */
  readonly tenantId: string;
  /** UUIDs of the subjects by which the asking tenancy knows the other one. */
  readonly knownHereAs: readonly string[];
  /** UUIDs of the subjects by which the other tenancy knows the asking one: what its policies name. */
  readonly knownThereAs: readonly string[];
}

/**
 * The tenancies that are mutually confirmed with this one, none of them disabled. Nothing else of the other tenancies is
 * told; a transaction that may not read the asking tenancy is told nothing.
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
