import type { LogRef } from '../../ledger/log.js';
import type { Tx } from '../../platform/postgres/database.js';

/** A row that something must stand beside, and nothing does. */
interface StrayRow {
  /** The log or the part of the audit that the row belongs to. */
  readonly name: string;
  readonly what: string;
}

/**
 * Some of the rows that no log and no registration stands behind, of what is left of a log or a tenancy whose row is gone,
 * and of the public statement log's entries whose row is gone: each is of an event, a registered seal or an open fork.
 */
export async function strayRows(tx: Tx, publicLog: LogRef, limit: number): Promise<StrayRow[]> {
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
     SELECT 'logs', format('the row of tenancy %s is gone, and its logs are there', lost.tenant_id)
       FROM (SELECT tenant_id FROM archivist.log EXCEPT SELECT tenant_id FROM archivist.tenancy) lost
     UNION ALL
     SELECT 'statements', format('the statement of %s is in no log and waits for none', s.event_id)
       FROM (SELECT tenant_id, event_id FROM archivist.statement
             EXCEPT SELECT entry_tenant_id, entry_id FROM archivist.leaf WHERE entry_kind = 'statement'
             EXCEPT SELECT entry_tenant_id, entry_id FROM archivist.intake WHERE entry_kind = 'statement') s
     UNION ALL
     SELECT 'registrations', format('no registration names the policy %s', encode(p.digest, 'hex'))
       FROM archivist.registration_policy p
      WHERE NOT EXISTS (SELECT FROM archivist.registration r
                         WHERE r.tenant_id = p.tenant_id AND r.policy_digest = p.digest)
     UNION ALL
     SELECT 'payload-hash registrations', format('the profile has a log %s that is not there', p.log_id)
       FROM archivist.payload_hash_log p
      WHERE NOT EXISTS (SELECT FROM archivist.log g WHERE g.tenant_id = p.tenant_id AND g.log_id = p.log_id)
     UNION ALL
     SELECT 'witnesses', format('entry %s of the public statement log is of no event, registered seal or fork', lost.entry_id)
       FROM (SELECT l.entry_id
               FROM (SELECT tenant_id, log_id, entry_id FROM archivist.leaf
                     UNION ALL SELECT tenant_id, log_id, entry_id FROM archivist.intake) l
              WHERE l.tenant_id = $1 AND l.log_id = $2
                AND NOT EXISTS (SELECT FROM archivist.asset_event e
                                 WHERE e.tenant_id = l.tenant_id AND e.event_id = l.entry_id)
             -- No index has these by entry: NOT EXISTS could read them all for each entry.
             EXCEPT SELECT entry_id FROM archivist.registered_seal
             EXCEPT SELECT (fork->>'entry_id')::uuid FROM archivist.log, jsonb_array_elements(forks) fork) lost
      LIMIT $3`,
    [publicLog.tenantId, publicLog.logId, limit],
  );
}
