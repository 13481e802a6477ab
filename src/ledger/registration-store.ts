import { toHex } from '../core/bytes.js';
import type { Tx } from '../platform/postgres/database.js';

/** A statement that another party signed and that the logs accepted. */
export interface Registration {
  /** The public tenancy for a public registration, else the registrant's own. */
  readonly tenantId: string;
  /** SHA-256 of the entry that the statement log commits to. */
  readonly statementHash: Uint8Array;
  readonly eventId: string;
  readonly assetId: string;
  /** The exact bytes as received. */
  readonly submitted: Uint8Array;
  readonly creatorIssuer: string;
  readonly creatorSubject: string;
  /** SHA-256 of the policy's text, its key in the policy table. */
  readonly policyDigest: Uint8Array;
  readonly keyResolution: Readonly<Record<string, string>>;
  readonly registeredAt: Date;
}

interface RegistrationRow {
  tenant_id: string;
  statement_hash: Uint8Array;
  event_id: string;
  asset_id: string;
  submitted: Uint8Array;
  creator_issuer: string;
  creator_subject: string;
  policy_digest: Uint8Array;
  key_resolution: Record<string, string>;
  registered_at: Date;
}

const COLUMNS = `r.tenant_id, r.statement_hash, r.event_id, r.asset_id, r.submitted, r.creator_issuer, r.creator_subject,
  r.policy_digest, r.key_resolution, r.registered_at`;

/** Which entry a statement is. */
export interface RegisteredEntry {
  readonly assetId: string;
  readonly eventId: string;
  /** The statement was registered before. */
  readonly repeated?: true;
}

/**
 * Claims each statement for its event. A statement that is already registered is answered with its first entry; a
 * transaction that is registering it is waited for. Statements must be distinct. The result is in their order.
 */
export async function takeRegistrations(
  tx: Tx,
  registrations: readonly Registration[],
): Promise<(RegisteredEntry | undefined)[]> {
  if (registrations.length === 0) return [];
  const taken = await tx.query<{ event_id: string }>(
    `INSERT INTO archivist.registration (tenant_id, statement_hash, event_id, asset_id, submitted, creator_issuer,
       creator_subject, policy_digest, key_resolution, registered_at)
     SELECT t, h, e, a, s, ci, cs, p, k::jsonb, at
       FROM unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::uuid[], $5::bytea[], $6::text[], $7::text[], $8::bytea[],
                   $9::text[], $10::timestamptz[]) AS n(t, h, e, a, s, ci, cs, p, k, at) ORDER BY t, h
     ON CONFLICT DO NOTHING RETURNING event_id`,
    [
      registrations.map((each) => each.tenantId),
      registrations.map((each) => each.statementHash),
      registrations.map((each) => each.eventId),
      registrations.map((each) => each.assetId),
      registrations.map((each) => each.submitted),
      registrations.map((each) => each.creatorIssuer),
      registrations.map((each) => each.creatorSubject),
      registrations.map((each) => each.policyDigest),
      registrations.map((each) => JSON.stringify(each.keyResolution)),
      registrations.map((each) => each.registeredAt),
    ],
  );
  const fresh = new Set(taken.map((row) => row.event_id));
  const repeated = registrations.filter((each) => !fresh.has(each.eventId));
  const earlier = await earlierEntries(tx, repeated);
  return registrations.map((each) => (fresh.has(each.eventId) ? undefined : earlier.get(keyOf(each))));
}

const keyOf = (each: { tenantId: string; statementHash: Uint8Array }) =>
  `${each.tenantId}/${toHex(each.statementHash)}`;

async function earlierEntries(tx: Tx, wanted: readonly Registration[]): Promise<Map<string, RegisteredEntry>> {
  if (wanted.length === 0) return new Map();
  const rows = await tx.query<Pick<RegistrationRow, 'tenant_id' | 'statement_hash' | 'event_id' | 'asset_id'>>(
    `SELECT r.tenant_id, r.statement_hash, r.event_id, r.asset_id
       FROM unnest($1::uuid[], $2::bytea[]) AS n(tenant_id, statement_hash)
       JOIN archivist.registration r USING (tenant_id, statement_hash)`,
    [wanted.map((each) => each.tenantId), wanted.map((each) => each.statementHash)],
  );
  return new Map(
    rows.map((row) => [
      keyOf({ tenantId: row.tenant_id, statementHash: row.statement_hash }),
      { assetId: row.asset_id, eventId: row.event_id, repeated: true },
    ]),
  );
}

/** Removes registrations that this transaction has claimed. */
export async function releaseRegistrations(tx: Tx, registrations: readonly Registration[]): Promise<void> {
  if (registrations.length === 0) return;
  await tx.execute(
    `DELETE FROM archivist.registration r USING unnest($1::uuid[], $2::bytea[]) AS n(tenant_id, statement_hash)
      WHERE r.tenant_id = n.tenant_id AND r.statement_hash = n.statement_hash`,
    [registrations.map((each) => each.tenantId), registrations.map((each) => each.statementHash)],
  );
}

/** The registration that an event was made from. */
export async function findRegistration(
  tx: Tx,
  address: { readonly tenantId: string; readonly eventId: string },
): Promise<Registration | undefined> {
  const [row] = await tx.query<RegistrationRow>(
    `SELECT ${COLUMNS} FROM archivist.registration r WHERE r.tenant_id = $1 AND r.event_id = $2`,
    [address.tenantId, address.eventId],
  );
  return (
    row && {
      tenantId: row.tenant_id,
      statementHash: row.statement_hash,
      eventId: row.event_id,
      assetId: row.asset_id,
      submitted: row.submitted,
      creatorIssuer: row.creator_issuer,
      creatorSubject: row.creator_subject,
      policyDigest: row.policy_digest,
      keyResolution: row.key_resolution,
      registeredAt: row.registered_at,
    }
  );
}

/** A policy under which a statement was registered. */
export interface PolicyRow {
  readonly tenantId: string;
  readonly digest: Uint8Array;
  /** JSON. */
  readonly text: string;
}

/** Stores policies; an existing one stays unchanged. */
export async function keepPolicies(tx: Tx, policies: readonly PolicyRow[]): Promise<void> {
  if (policies.length === 0) return;
  await tx.execute(
    `INSERT INTO archivist.registration_policy (tenant_id, digest, policy)
     SELECT DISTINCT * FROM unnest($1::uuid[], $2::bytea[], $3::text[]) AS n(t, d, p) ORDER BY t, d
     ON CONFLICT DO NOTHING`,
    [policies.map((each) => each.tenantId), policies.map((each) => each.digest), policies.map((each) => each.text)],
  );
}

export async function findPolicy(tx: Tx, tenantId: string, digest: Uint8Array): Promise<string | undefined> {
  const [row] = await tx.query<{ policy: string }>(
    'SELECT policy FROM archivist.registration_policy WHERE tenant_id = $1 AND digest = $2',
    [tenantId, digest],
  );
  return row?.policy;
}
