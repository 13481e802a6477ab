import { table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';

/** A client of a tenancy, as a token names it. */
export interface ClientAddress {
  readonly tenantId: string;
  readonly clientId: string;
}

/** A client's current permissions. */
export interface Standing {
  /** Empty for a deleted application. */
  readonly roles: readonly string[];
  /** How often the client's tokens were revoked. */
  readonly epoch: number;
}

const EPOCH = table('token_epoch').columns<ClientAddress & { readonly epoch: bigint }>({
  tenantId: 'tenant_id',
  clientId: 'client_id',
  epoch: 'epoch',
});

/** One standing per client, in the order of `clients`. */
export async function findStandings(tx: Tx, clients: readonly ClientAddress[]): Promise<Standing[]> {
  const rows = await tx.query<{ roles: string[] | null; epoch: bigint | null }>(
    `SELECT (SELECT a.roles FROM archivist.application a
              WHERE a.tenant_id = w.tenant_id AND a.application_id = w.client_id),
            (SELECT e.epoch FROM archivist.token_epoch e
              WHERE e.tenant_id = w.tenant_id AND e.client_id = w.client_id)
       FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS w(tenant_id, client_id, place)
      ORDER BY w.place`,
    [clients.map(({ tenantId }) => tenantId), clients.map(({ clientId }) => clientId)],
  );
  return rows.map(({ roles, epoch }) => ({ roles: roles ?? [], epoch: Number(epoch ?? 0) }));
}

/** True for an application of the tenancy, also a deleted one. */
export async function isKnownClient(tx: Tx, { tenantId, clientId }: ClientAddress): Promise<boolean> {
  const rows = await tx.query(
    `SELECT FROM archivist.application a WHERE a.tenant_id = $1 AND a.application_id = $2
     UNION ALL SELECT FROM archivist.token_epoch e WHERE e.tenant_id = $1 AND e.client_id = $2`,
    [tenantId, clientId],
  );
  return rows.length > 0;
}

/** Revokes the tokens that the client holds. */
export async function raiseEpoch(tx: Tx, { tenantId, clientId }: ClientAddress): Promise<void> {
  await insertRows(
    tx,
    EPOCH,
    [{ tenantId, clientId, epoch: 1n }],
    `ON CONFLICT (${EPOCH.of.tenantId}, ${EPOCH.of.clientId})
       DO UPDATE SET ${EPOCH.of.epoch} = token_epoch.${EPOCH.of.epoch} + 1`,
  );
}
