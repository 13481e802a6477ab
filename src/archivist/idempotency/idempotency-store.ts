import { toHex } from '../../core/bytes.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { SqlStatement, Tx } from '../../platform/postgres/database.js';
import { insertRows, insertsOfNew } from '../../platform/postgres/insert-rows.js';
import { rowsById } from '../../platform/postgres/rows-by-id.js';
import type { IdempotencyClaim } from './idempotency.js';

/** The row that an earlier request with the same key created. */
export interface EarlierResult {
  readonly bodyHash: Uint8Array;
  readonly resource: string;
}

interface StoredClaim extends IdempotencyClaim {
  readonly resource: string;
  readonly createdAt: Date;
}

const CLAIM = table('idempotency').columns<StoredClaim>({
  tenantId: 'tenant_id',
  scope: 'scope',
  bodyHash: 'body_hash',
  resource: 'resource',
  createdAt: 'created_at',
});

/** Transactions that take the same claims wait for each other, and never in a circle. */
const IN_ORDER = 'ORDER BY tenant_id, scope';

type NewClaim = IdempotencyClaim & { readonly resource: string };

/** Takes claims, none of which is taken yet. @param existing makes what is thrown if one is */
export function insertClaims(claims: readonly NewClaim[], now: Date, existing: () => Error): Iterable<SqlStatement> {
  return insertsOfNew(CLAIM, stored(claims, now), existing, IN_ORDER);
}

const stored = (claims: readonly NewClaim[], now: Date) => claims.map((claim) => ({ createdAt: now, ...claim }));

/**
 * Takes each claim for its resource. A claim that is already taken resolves with what its holder created; a claim of a
 * transaction that is still running is waited for.
 * Claims must be distinct. Results are in the order of the claims.
 */
export async function takeClaims(
  tx: Tx,
  claims: readonly NewClaim[],
  now: Date,
): Promise<(EarlierResult | undefined)[]> {
  if (claims.length === 0) return [];
  const taken = await insertRows(tx, CLAIM, stored(claims, now), `${IN_ORDER} ON CONFLICT DO NOTHING`);
  if (taken === claims.length) return claims.map(() => undefined);
  const held = await findClaims(tx, claims);
  // A claim that was neither written nor found has been purged in between. Without a row, it would hold off nobody.
  const purged = claims.filter((_, place) => !held[place]);
  const later = new Map((await takeClaims(tx, purged, now)).map((result, place) => [purged[place], result]));
  return claims.map((claim, place) => {
    const row = held[place] ?? later.get(claim);
    // A row with the resource id that was generated just now is the one that this statement wrote.
    return row?.resource === claim.resource ? undefined : row;
  });
}

/** What earlier requests created under these claims' keys, in their order. */
export async function findClaims(
  tx: Tx,
  claims: readonly Pick<IdempotencyClaim, 'tenantId' | 'scope'>[],
): Promise<(EarlierResult | undefined)[]> {
  const rows = await tx.query<EarlierResult & Pick<StoredClaim, 'tenantId' | 'scope'>>(
    `SELECT ${selected(CLAIM, 'i', ['tenantId', 'scope', 'bodyHash', 'resource'])}
       ${rowsById('idempotency', 'scope', 'i', 'bytea')}`,
    [claims.map((claim) => claim.tenantId), claims.map((claim) => claim.scope)],
  );
  const held = new Map(rows.map((row) => [keyOf(row), row]));
  return claims.map((claim) => {
    const row = held.get(keyOf(claim));
    return row && { bodyHash: row.bodyHash, resource: row.resource };
  });
}

const keyOf = ({ tenantId, scope }: Pick<StoredClaim, 'tenantId' | 'scope'>) => `${tenantId} ${toHex(scope)}`;

/** Releases claims that this transaction has taken. */
export async function releaseClaims(tx: Tx, claims: readonly IdempotencyClaim[]): Promise<void> {
  if (claims.length === 0) return;
  await tx.execute(
    `DELETE FROM archivist.idempotency i USING unnest($1::uuid[], $2::text[]) AS n(tenant_id, s)
      WHERE i.tenant_id = n.tenant_id AND i.scope = decode(n.s, 'hex')`,
    [claims.map((claim) => claim.tenantId), claims.map((claim) => toHex(claim.scope))],
  );
}

/** Deletes at most `limit` claims of any tenancy that were taken before a time. Resolves with their number. */
export function deleteClaims(tx: Tx, before: Date, limit: number): Promise<number> {
  // By tenancy, because every index begins with the tenancy.
  return tx.execute(
    `DELETE FROM archivist.idempotency i
      USING (SELECT old.tenant_id, old.scope FROM archivist.tenancy t CROSS JOIN LATERAL (
               SELECT tenant_id, scope FROM archivist.idempotency
                WHERE tenant_id = t.tenant_id AND created_at < $1 ORDER BY created_at LIMIT $2) old
              LIMIT $2) old
      WHERE i.tenant_id = old.tenant_id AND i.scope = old.scope`,
    [before, limit],
  );
}
