import type { Tx } from '../../platform/postgres/database.js';

/** A registration with everything that must agree with it; null columns mean that it does not exist. */
export interface RegistrationEvidence {
  readonly tenant_id: string;
  readonly event_id: string;
  readonly statement_hash: Uint8Array;
  readonly submitted: Uint8Array;
  readonly asset_id: string;
  readonly creator_issuer: string;
  readonly creator_subject: string;
  readonly policy_digest: Uint8Array;
  readonly key_resolution: Record<string, string>;
  readonly registered_at: Date;
  readonly entry: Uint8Array | null;
  readonly event_asset_id: string | null;
  readonly event_attributes: Record<string, unknown> | null;
  readonly accepted_at: Date | null;
  /** From the registrant's own event: its public form has no principal. */
  readonly principal_accepted: Record<string, unknown> | null;
  readonly policy: string | null;
  /** The registrant's asset for statements of this kind. */
  readonly statement_asset_id: string | null;
}

/** Registrations in key order, after the given one. */
export async function registrationEvidence(
  tx: Tx,
  publicTenancy: string,
  after: { readonly tenantId: string; readonly eventId: string },
  limit: number,
): Promise<RegistrationEvidence[]> {
  return tx.query<RegistrationEvidence>(
    `SELECT r.tenant_id, r.event_id, r.statement_hash, r.submitted, r.asset_id, r.creator_issuer, r.creator_subject,
            r.policy_digest, r.key_resolution, r.registered_at, s.entry, e.asset_id AS event_asset_id, e.event_attributes,
            e.accepted_at, own.principal_accepted, p.policy, a.asset_id AS statement_asset_id
       FROM archivist.registration r
       LEFT JOIN archivist.statement s ON s.tenant_id = r.tenant_id AND s.event_id = r.event_id
       LEFT JOIN archivist.asset_event e ON e.tenant_id = r.tenant_id AND e.event_id = r.event_id
       LEFT JOIN archivist.asset_event own ON own.tenant_id = e.origin_tenant_id AND own.event_id = e.event_id
       LEFT JOIN archivist.registration_policy p ON p.tenant_id = r.tenant_id AND p.digest = r.policy_digest
       LEFT JOIN archivist.statement_asset a
         ON a.tenant_id = e.origin_tenant_id AND a.public = (r.tenant_id = $1)
      WHERE (r.tenant_id, r.event_id) > ($2, $3) ORDER BY r.tenant_id, r.event_id LIMIT $4`,
    [publicTenancy, after.tenantId, after.eventId, limit],
  );
}

/** Events among registered statements that have no registration. */
export async function unregisteredStatementEvents(tx: Tx, publicTenancy: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ event_id: string }>(
    `SELECT e.event_id FROM archivist.statement_asset a
       JOIN archivist.asset_event e ON e.tenant_id = a.tenant_id AND e.asset_id = a.asset_id
        AND e.event_attributes ? 'signed_statement'
      WHERE NOT EXISTS (SELECT FROM archivist.registration r
                         WHERE r.tenant_id = CASE WHEN a.public THEN $1 ELSE a.tenant_id END AND r.event_id = e.event_id)
      LIMIT $2`,
    [publicTenancy, limit],
  );
  return rows.map((row) => row.event_id);
}
