import { ApiError, type ErrorCode } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { ActTurns } from './act-turns.js';
import { recordSecurityEvent, type SecurityDeps } from './record-security-event.js';
import type { RefusedActs } from './refused-acts.js';
import { requireOwnerNow } from './require-owner-now.js';
import { actorOf, type SecurityAct } from './security-event.js';

export interface AdministerDeps extends SecurityDeps {
  readonly database: Database;
  readonly refusedActs: RefusedActs;
  readonly actTurns: ActTurns;
}

/** The outcome of an administrative act: the result, and what its audit entry adds to the act. */
export interface Administered<Result> {
  readonly result: Result;
  /** Set if it was unknown before, such as the identity of a new resource. */
  readonly resource?: string;
  readonly details?: SecurityAct['details'];
  /** The act found everything as it would have made it: there is no entry. */
  readonly unchanged?: boolean;
}

/**
 * Refusals because of missing rights or a rule, which auditors need; invalid input and missing resources are not
 * recorded.
 */
const AUDITED: ReadonlySet<ErrorCode> = new Set(['forbidden', 'conflict', 'quota_reached']);

/**
 * Runs an Owner's act in one transaction of the tenancy, together with its entry in the security audit. Acts of one
 * tenancy wait for each other before they take a connection, so `work` must not run another act. The caller must
 * be an Owner when the act commits, not only when the request arrived. A refused act is also recorded, in a transaction
 * of its own, up to the bound of `refusedActs`.
 * @throws {ApiError} forbidden if the caller is not an Owner; unavailable as `ActTurns`; else every error of `work`
 */
export async function administer<Result>(
  deps: AdministerDeps,
  principal: Principal,
  act: Pick<SecurityAct, 'action' | 'resource'>,
  work: (tx: Tx) => Promise<Administered<Result>>,
): Promise<Result> {
  const { tenantId } = principal;
  const scope = { read: [tenantId], write: [tenantId] };
  const entry = { ...act, tenantId, actor: actorOf(principal) };
  try {
    return await deps.actTurns.inTurn(tenantId, () =>
      deps.database.inTransaction(scope, async (tx) => {
        await requireOwnerNow(tx, principal);
        const { result, resource = act.resource, details = {}, unchanged = false } = await work(tx);
        if (!unchanged) await recordSecurityEvent(tx, deps, { ...entry, resource, details });
        return result;
      }),
    );
  } catch (error) {
    if (error instanceof ApiError && AUDITED.has(error.code)) {
      const failure = { ...entry, outcome: 'failure' as const, details: { reason: error.description } };
      await deps.refusedActs.keep(failure, (kept) =>
        deps.database.inTransaction(scope, (tx) => recordSecurityEvent(tx, deps, kept)),
      );
    }
    throw error;
  }
}
