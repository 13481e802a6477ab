import type { Tx } from '../../platform/postgres/database.js';

/** An application that can get no more tokens after some time unless it gets a new secret. */
interface ExpiringApplication {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly displayName: string;
  readonly validUntil: Date;
}

/** Applications of every tenancy whose last secret expires in this period, the earliest first; at most 1,000. */
export async function findExpiringApplications(tx: Tx, from: Date, until: Date): Promise<ExpiringApplication[]> {
  const rows = await tx.query<{
    tenant_id: string;
    application_id: string;
    display_name: string;
    valid_until: Date;
  }>(
    `SELECT a.tenant_id, a.application_id, a.display_name, max(c.valid_until) AS valid_until
       FROM archivist.application a
       JOIN archivist.application_credential c USING (tenant_id, application_id)
      GROUP BY a.tenant_id, a.application_id, a.display_name
     HAVING max(c.valid_until) > $1 AND max(c.valid_until) <= $2
      ORDER BY max(c.valid_until) LIMIT 1000`,
    [from, until],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    applicationId: row.application_id,
    displayName: row.display_name,
    validUntil: row.valid_until,
  }));
}
