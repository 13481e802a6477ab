import { setTimeout as wait } from 'node:timers/promises';
import { AuditStopped } from '../../ledger/audit/audit-context.js';
import { type AssetKey, assetsWithAttributes, contradictedAssets } from './asset-audit-store.js';
import { type DeploymentAudit, LONG_STATEMENTS } from './deployment-audit.js';
import { misplacedEvents } from './trail-audit-store.js';

const PAGE = 100;
const NOTHING = '00000000-0000-0000-0000-000000000000';
const MOST_FAULTS = 200;

/**
 * Checks the rows through which the interface finds events: the row of each asset against the events of the asset, and the
 * index of trails against the asset-free events. No log is made of these rows, but all that they say follows from events.
 */
export async function auditAssets(audit: DeploymentAudit): Promise<void> {
  const { database, deployment, fault } = audit;
  const contradicted = await database.inTransaction(LONG_STATEMENTS, (tx) =>
    contradictedAssets(tx, deployment.publicTenancy, MOST_FAULTS),
  );
  for (const { tenantId, what } of contradicted) fault(`tenant/${tenantId}`, what);
  await auditAttributes(audit);
  // A trail may hold a telephone number, so no message names it.
  for (const { tenantId, eventId, missing } of await database.inTransaction(LONG_STATEMENTS, (tx) =>
    misplacedEvents(tx, MOST_FAULTS),
  ))
    fault(
      `tenant/${tenantId}`,
      missing
        ? `event ${eventId} is hidden: the index of trails does not have it under one of its trails`
        : `the index of trails has event ${eventId} under a trail that the event does not have`,
    );
}

async function auditAttributes({
  database,
  fault,
  stopping,
  gently = false,
}: Pick<DeploymentAudit, 'database' | 'fault' | 'stopping' | 'gently'>): Promise<void> {
  for (let after: AssetKey = { tenantId: NOTHING, assetId: NOTHING }; ; ) {
    if (stopping?.()) throw new AuditStopped(`stopped at the attributes of asset ${after.assetId}`);
    const begun = performance.now();
    const assets = await database.inTransaction(LONG_STATEMENTS, (tx) => assetsWithAttributes(tx, after, PAGE));
    for (const { tenantId, assetId, differs } of assets)
      if (differs) fault(`tenant/${tenantId}`, `asset ${assetId} has different attributes than its events gave it`);
    if (assets.length < PAGE) return;
    if (gently) await wait(performance.now() - begun);
    after = assets.at(-1)!;
  }
}
