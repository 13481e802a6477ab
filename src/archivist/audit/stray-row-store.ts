import type { Tx } from '../../platform/postgres/database.js';

/** A row that something must stand beside, and nothing does. */
interface StrayRow {
  /** The log or the part of the audit that the row belongs to. */
  readonly name: string;
  readonly what: string;
}

/** Some of the rows that no log and no registration stands behind, and of what is left of a log whose row is gone. */
export async function strayRows(tx: Tx, limit: number): Promise<StrayRow[]> {
  return tx.query<StrayRow>(
    `SELECT 'logs' AS name, format('the row of log %s is gone, and its leaves are there', l.log_id) AS what
       FROM archivist.leaf l
      WHERE l.leaf_index = 0
        AND NOT EXISTS (SELECT FROM archivist.log g WHERE g.tenant_id = l.tenant_id AND g.log_id = l.log_id)
     UNION ALL
     SELECT 'logs', format('tenancy %s has no log', t.tenant_id)
       FROM archivist.tenancy t
      WHERE NOT EXISTS (SELECT FROM archivist.log g WHERE g.tenant_id = t.tenant_id)
     UNION ALL
     SELECT 'statements', format('the statement of %s is in no log and waits for none', s.event_id)
       FROM archivist.statement s
      WHERE NOT EXISTS (SELECT FROM archivist.leaf l
                         WHERE l.entry_id = s.event_id AND l.entry_tenant_id = s.tenant_id AND l.entry_kind = 'statement')
        AND NOT EXISTS (SELECT FROM archivist.intake i
                         WHERE i.entry_id = s.event_id AND i.entry_tenant_id = s.tenant_id AND i.entry_kind = 'statement')
     UNION ALL
     SELECT 'registrations', format('no registration names the policy %s', encode(p.digest, 'hex'))
       FROM archivist.registration_policy p
      WHERE NOT EXISTS (SELECT FROM archivist.registration r
                         WHERE r.tenant_id = p.tenant_id AND r.policy_digest = p.digest)
     UNION ALL
     SELECT 'payload-hash registrations', format('the profile has a log %s that is not there', p.log_id)
       FROM archivist.payload_hash_log p
      WHERE NOT EXISTS (SELECT FROM archivist.log g WHERE g.tenant_id = p.tenant_id AND g.log_id = p.log_id)
      LIMIT $1`,
    [limit],
  );
}
