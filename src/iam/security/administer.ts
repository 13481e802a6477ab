import { ApiError, type ErrorCode } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { requireOwnerNow } from '../access/require-owner-now.js';
import { recordSecurityEvent, type SecurityDeps } from './record-security-event.js';
import { actorOf, type SecurityAct } from './security-event.js';

export interface AdministerDeps extends SecurityDeps {
  readonly database: Database;
}

/** What an administrative act came to: the answer, and what its entry in the audit says beside the act itself. */
export interface Administered<Result> {
  readonly result: Result;
  /** When it was not known before, as the identity of what is made. */
  readonly resource?: string;
  readonly details?: SecurityAct['details'];
}

/** Refusals by right or by rule, which an auditor wants to see; wrong input and things that are not there tell nothing. */
const AUDITED: ReadonlySet<ErrorCode> = new Set(['forbidden', 'conflict', 'quota_reached']);

/**
 * Runs an Owner's act in one transaction of the tenancy with its entry in the security audit. The caller must be an Owner
 * while the act commits, not only when the request came. A refused act has an entry too, in a transaction of its own.
 * @throws {ApiError} forbidden for who is no Owner; else what work throws
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
    return await deps.database.inTransaction(scope, async (tx) => {
      await requireOwnerNow(tx, principal);
      const { result, resource = act.resource, details = {} } = await work(tx);
      await recordSecurityEvent(tx, deps, { ...entry, resource, details });
      return result;
    });
  } catch (error) {
    if (error instanceof ApiError && AUDITED.has(error.code)) {
      const failure = { ...entry, outcome: 'failure' as const, details: { reason: error.description } };
      await deps.database.inTransaction(scope, (tx) => recordSecurityEvent(tx, deps, failure));
    }
    throw error;
  }
}
