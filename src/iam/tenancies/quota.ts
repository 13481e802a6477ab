import { ApiError } from '../../platform/errors.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import {
  beginUsage,
  type CountedQuota,
  countRows,
  countUsage,
  deleteUsage,
  findUsage,
  isMetered,
  lockForCounting,
  METERED_QUOTAS,
  type MeteredQuota,
  setUsage,
} from './quota-store.js';
import type { QuotaName, Quotas } from './quotas.js';

/**
 * Requires room for one more, in the transaction that adds it; concurrent additions wait for each other.
 * @throws {ApiError} quota_reached naming the quota
 */
export async function requireRoom(tx: Tx, quotas: Quotas, tenantId: string, name: CountedQuota): Promise<void> {
  const limit = quotas[name];
  if (limit === undefined) return;
  await lockForCounting(tx, tenantId);
  if ((await countRows(tx, name, tenantId, limit)) >= limit) throw quotaReached(name, limit);
}

/** How much the tenancy may still add at this moment; infinite without a limit. */
export async function roomLeft(
  deps: { readonly database: Database; readonly quotas: Quotas },
  tenantId: string,
  name: QuotaName,
): Promise<number> {
  const limit = deps.quotas[name];
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const used = await deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    if (!isMetered(name)) return countRows(tx, name, tenantId, limit);
    const [usage] = await findUsage(tx, [tenantId], [name], 'read');
    return usage?.used ?? countUsage(tx, tenantId, name);
  });
  return Math.max(0, limit - used);
}

/** How much of each metered quota an operation uses. */
export type Amounts = Readonly<Partial<Record<MeteredQuota, number>>>;

/** What is left of the metered quotas of some tenancies, locked until the transaction ends. */
interface Meter {
  /** Takes the whole amount or nothing. @throws {ApiError} quota_reached naming the quota */
  take(tenantId: string, amounts: Amounts): void;
  /** Stores what was taken. */
  save(): Promise<void>;
}

/**
 * Opens the metered quotas that limit these tenancies; undefined, without a query, if none does. Must be opened before
 * the same transaction writes anything that it counts.
 */
export async function openMeter(
  tx: Tx,
  quotas: Quotas,
  tenantIds: readonly string[],
  names: readonly MeteredQuota[],
): Promise<Meter | undefined> {
  const limited = names.filter((name) => quotas[name] !== undefined);
  if (limited.length === 0 || tenantIds.length === 0) return undefined;
  const used = new Map<string, number>();
  const keyOf = (tenantId: string, name: MeteredQuota) => `${name} ${tenantId}`;
  const wanted = tenantIds.flatMap((tenantId) => limited.map((name) => ({ tenantId, name })));
  const read = async () => {
    for (const each of await findUsage(tx, tenantIds, limited, 'lock'))
      used.set(keyOf(each.tenantId, each.name), each.used);
  };
  await read();
  const missing = wanted.filter(({ tenantId, name }) => !used.has(keyOf(tenantId, name)));
  for (const { tenantId, name } of missing) await beginUsage(tx, tenantId, name);
  if (missing.length > 0) await read();
  const changed = new Set<string>();
  return {
    take(tenantId, amounts) {
      const taken = limited.filter((name) => (amounts[name] ?? 0) > 0);
      for (const name of taken) {
        const total = used.get(keyOf(tenantId, name))! + amounts[name]!;
        if (total > quotas[name]!) throw quotaReached(name, quotas[name]!);
      }
      for (const name of taken) {
        const key = keyOf(tenantId, name);
        used.set(key, used.get(key)! + amounts[name]!);
        changed.add(key);
      }
    },
    save: () =>
      setUsage(
        tx,
        wanted
          .filter(({ tenantId, name }) => changed.has(keyOf(tenantId, name)))
          .map(({ tenantId, name }) => ({ tenantId, name, used: used.get(keyOf(tenantId, name))! })),
      ),
  };
}

/**
 * The use of a quota without a limit is not tracked: stored counts are deleted, and the next process with a limit counts
 * again.
 */
export function forgetUnlimited(database: Database, quotas: Quotas): Promise<void> {
  const unlimited = METERED_QUOTAS.filter((name) => quotas[name] === undefined);
  return database.inTransaction('system', (tx) => deleteUsage(tx, unlimited));
}

export function quotaReached(name: QuotaName, limit: number): ApiError {
  const what = name.replaceAll('_', ' ');
  return new ApiError(
    'quota_reached',
    `The quota of ${what} is reached: this tenancy may have at most ${limit}. The operator can raise it.`,
  );
}
