import { toHex } from '../core/bytes.js';
import { selected, table } from '../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../platform/postgres/database.js';
import { insertReturning, insertsOf, insertsOfNew } from '../platform/postgres/insert-rows.js';
import { rowsById } from '../platform/postgres/rows-by-id.js';

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

const REGISTRATION = table('registration').columns<Registration>({
  tenantId: 'tenant_id',
  statementHash: 'statement_hash',
  eventId: 'event_id',
  assetId: 'asset_id',
  submitted: 'submitted',
  creatorIssuer: 'creator_issuer',
  creatorSubject: 'creator_subject',
  policyDigest: 'policy_digest',
  keyResolution: 'key_resolution',
  registeredAt: 'registered_at',
});

/** Transactions that claim the same statements wait for each other, and never in a circle. */
const IN_ORDER = 'ORDER BY tenant_id, statement_hash';

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
  const rest = `${IN_ORDER} ON CONFLICT DO NOTHING`;
  const fresh = new Set(await insertReturning(tx, REGISTRATION, registrations, rest, 'eventId'));
  const repeated = registrations.filter((each) => !fresh.has(each.eventId));
  const earlier = await earlierEntries(tx, repeated);
  return registrations.map((each) => (fresh.has(each.eventId) ? undefined : earlier.get(keyOf(each))));
}

/** Claims statements, none of which is registered yet. @param existing makes what is thrown if one is */
export function insertRegistrations(
  registrations: readonly Registration[],
  existing: () => Error,
): Iterable<SqlStatement> {
  return insertsOfNew(REGISTRATION, registrations, existing, IN_ORDER);
}

const keyOf = (each: { tenantId: string; statementHash: Uint8Array }) =>
  `${each.tenantId}/${toHex(each.statementHash)}`;

async function earlierEntries(tx: Tx, wanted: readonly Registration[]): Promise<Map<string, RegisteredEntry>> {
  if (wanted.length === 0) return new Map();
  const rows = await tx.query<Registration>(
    `SELECT ${selected(REGISTRATION, 'r', ['tenantId', 'statementHash', 'eventId', 'assetId'])}
       ${rowsById('registration', 'statement_hash', 'r', 'bytea')}`,
    [wanted.map((each) => each.tenantId), wanted.map((each) => each.statementHash)],
  );
  return new Map(rows.map((row) => [keyOf(row), { assetId: row.assetId, eventId: row.eventId, repeated: true }]));
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
  const [registration] = await tx.query<Registration>(
    `SELECT ${selected(REGISTRATION, 'r')} ${rowsById('registration', 'event_id', 'r')}`,
    [[address.tenantId], [address.eventId]],
  );
  return registration;
}

/** A policy under which a statement was registered. */
export interface PolicyRow {
  readonly tenantId: string;
  readonly digest: Uint8Array;
  /** JSON. */
  readonly text: string;
}

const POLICY = table('registration_policy').columns<PolicyRow>({
  tenantId: 'tenant_id',
  digest: 'digest',
  text: 'policy',
});

/**
 * Stores policies; an existing one stays unchanged. Nearly always all registrations of a batch name the same one, whose
 * text is longer than most statements.
 */
export function keepPolicies(policies: readonly PolicyRow[]): Iterable<SqlStatement> {
  const distinct = new Map(policies.map((policy) => [`${policy.tenantId}/${toHex(policy.digest)}`, policy]));
  return insertsOf(POLICY, [...distinct.values()], 'ORDER BY tenant_id, digest ON CONFLICT DO NOTHING');
}

export async function findPolicy(tx: Tx, tenantId: string, digest: Uint8Array): Promise<string | undefined> {
  const [row] = await tx.query<{ policy: string }>(
    'SELECT policy FROM archivist.registration_policy WHERE tenant_id = $1 AND digest = $2',
    [tenantId, digest],
  );
  return row?.policy;
}
