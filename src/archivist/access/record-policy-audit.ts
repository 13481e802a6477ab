import { OWNER_ROLE } from '../../iam/access/owner-and-creator.js';
import {
  advancePolicyAudit,
  deletePolicyAudit,
  type PolicyAudit,
  takePolicyAudit,
} from '../../iam/access-policies/policy-audit-store.js';
import type { Failpoints } from '../../ledger/failpoints.js';
import type { LogRef } from '../../ledger/log.js';
import type { Principal } from '../../platform/http/principal.js';
import { condition } from '../../platform/listing/condition.js';
import type { Portion } from '../../platform/listing/portion-store.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { executeAll } from '../../platform/postgres/execute-all.js';
import { type AcceptDeps, acceptBatch } from '../accept/accept-batch.js';
import type { Submission } from '../accept/submission.js';
import type { Asset } from '../assets/asset.js';
import { listAssets } from '../assets/asset-store.js';
import { assetsOfPolicy } from './policy-assets.js';

export interface PolicyAuditDeps extends Omit<AcceptDeps, 'quotas' | 'halted' | 'statementAssets'> {
  readonly database: Database;
  readonly failpoints: Failpoints;
  /** Called after a commit for each log that has work to do. Must not throw. */
  nudge(log: LogRef): void;
}

/** Events of one transaction. */
const EVENTS_AT_ONCE = 100;

/**
 * Records the event of each new policy version on the assets that it matches (docs/design/interface.md#assets), until
 * all are recorded or `stopping` returns true. Tenancies take turns, so that none waits for another that has many.
 * The events of a step and the position that it reached are one transaction. After a crash each event is either
 * recorded once or still to be recorded.
 */
export async function recordPolicyAudit(
  deps: PolicyAuditDeps,
  stopping: () => boolean = () => false,
): Promise<{ recorded: number }> {
  let recorded = 0;
  let servedTenant: string | undefined;
  while (!stopping()) {
    await deps.failpoints.reach('policy-audit.before');
    const step = await deps.database.inTransaction('system', (tx) => recordSome(tx, deps, servedTenant));
    await deps.failpoints.reach('policy-audit.after');
    if (!step) break;
    recorded += step.recorded;
    servedTenant = step.tenantId;
    for (const log of step.logs) deps.nudge(log);
  }
  return { recorded };
}

async function recordSome(
  tx: Tx,
  deps: PolicyAuditDeps,
  servedTenant: string | undefined,
): Promise<{ tenantId: string; recorded: number; logs: LogRef[] } | undefined> {
  const audit = await takePolicyAudit(tx, servedTenant);
  if (!audit) return undefined;
  const { rows: assets, cut } = await nextAssets(tx, audit);
  // What the service itself records counts against no quota, and waits for a halted log.
  const { result, statements } = await acceptBatch(
    tx,
    { ...deps, quotas: {}, halted: () => false, statementAssets: new Map() },
    assets.map((asset) => auditEvent(audit, asset)),
  );
  await executeAll(tx, statements);
  const { outcomes, logs } = result;
  const refused = outcomes.find((outcome) => 'refused' in outcome);
  if (refused) throw refused.refused;
  const last = assets.at(-1);
  if (last && (cut || assets.length === EVENTS_AT_ONCE)) await advancePolicyAudit(tx, audit, last.assetId);
  else await deletePolicyAudit(tx, audit);
  return { tenantId: audit.tenantId, recorded: assets.length, logs };
}

function nextAssets(tx: Tx, audit: PolicyAudit): Promise<Portion<Asset>> {
  const conditions = [
    condition('a.tenant_id = ?', audit.tenantId),
    condition('a.asset_id > ?', audit.afterAsset),
    condition('a.created_at <= ?', audit.createdAt),
    assetsOfPolicy({ filters: audit.filters.map(({ or }) => ({ or: [...or] })) }),
  ];
  return listAssets(tx, conditions, EVENTS_AT_ONCE, 'oldest');
}

function auditEvent(audit: PolicyAudit, asset: Asset): Submission {
  return {
    kind: 'asset_event',
    principal: archivistInternal(audit.tenantId),
    assetId: asset.assetId,
    operation: 'Record',
    behaviour: 'Builtin',
    eventAttributes: audit.eventAttributes,
    assetAttributes: {},
  };
}

/** The principal of events that the service itself records. No token has an empty issuer. */
function archivistInternal(tenantId: string): Principal {
  const name = 'Archivist Internal';
  return { tenantId, issuer: '', subject: name, displayName: name, email: '', roles: [OWNER_ROLE], claims: {} };
}
