import { join } from 'node:path';
import type { Deployment } from '../archivist/deployment.js';
import { findAssetFreeEvents } from '../archivist/events/asset-free-event-store.js';
import { recordSecurityEvent, type SecurityDeps } from '../iam/security/record-security-event.js';
import { SECURITY_EVENT_TYPE, SERVICE } from '../iam/security/security-event.js';
import { newestSecurityEvent } from '../iam/security/security-event-store.js';
import { listOrganisationIds } from '../iam/tenancies/tenancy-store.js';
import type { AuditedLog } from '../ledger/audit/audit-log.js';
import { leafRange } from '../ledger/leaf-store.js';
import { type LogRef, tenancyLog } from '../ledger/log.js';
import type { WitnessConfig } from '../ledger/witnesses/witness-config.js';
import { removeFile } from '../platform/durable-file.js';
import type { Keyring } from '../platform/keys/keyring.js';
import { manifestFile } from '../platform/keys/manifest/manifest-file.js';
import { signatureFitsApart } from '../platform/keys/node-verify.js';
import type { ObjectStore } from '../platform/object-store.js';
import type { Database, Tx } from '../platform/postgres/database.js';
import { auditDeployment } from './audit-deployment.js';
import { type AuditState, openAuditState, UnusableAuditState } from './audit-state-file.js';
import type { Metrics } from './metrics.js';

const ACTION = 'log.audit';
const STATE_FILE = 'audit-state.json';
/** An older file is of an audit that was given up. */
const CONTINUED_FOR_MS = 24 * 60 * 60 * 1000;
const SHOWN_FAULTS = 5;
const MOST_FAULTS = 10_000;

export interface AuditSettings {
  /** Where a stopped run leaves its state. */
  readonly dataDir: string;
  readonly keysDir: string;
  readonly witnessing: Pick<WitnessConfig, 'witnesses' | 'quorum'>;
}

export interface ScheduledAuditDeps extends SecurityDeps {
  readonly settings: AuditSettings;
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly deployment: Deployment;
  readonly keyring: Keyring;
  readonly metrics: Pick<Metrics, 'audited'>;
  /** Called after a commit for each log that has work to do. Must not throw. */
  nudge(log: LogRef): void;
}

interface Fault {
  readonly log: string;
  readonly what: string;
}

/**
 * Audits all logs beside the service, slowly. Each tenancy gets an entry in its security audit that says up to which leaf
 * and seal its log was audited, and what was found; the deployment's own tenancy gets one about everything. A run that was
 * stopped continues from a file in `DATA_DIR`, for a day.
 * @throws {AuditStopped} if `stopping` returns true before the verdict
 */
export async function scheduledAudit(deps: ScheduledAuditDeps, stopping: () => boolean): Promise<object> {
  const { settings, deployment, logger } = deps;
  const state = await openState(deps);
  const faults: Fault[] = [];
  let count = 0;
  const logs = await auditDeployment({
    ...deps,
    verifySignature: signatureFitsApart,
    atOnce: 1,
    gently: true,
    root: { remembered: await manifestFile(settings.keysDir, deployment.deploymentTenancy).read() },
    witnesses: settings.witnessing.witnesses.map(({ key }) => key),
    quorum: settings.witnessing.quorum,
    progressOf: state.progressOf,
    stopping,
    fault(log, what) {
      count += 1;
      if (faults.length < MOST_FAULTS) faults.push({ log, what });
      state.fault(log, what);
      if (count <= SHOWN_FAULTS) logger.error({ log, fault: what }, 'the audit found a fault');
    },
    progress: () => undefined,
  });
  const recorded = await deps.database.inTransaction('system', (tx) => record(tx, deps, logs, { faults, count }));
  for (const tenantId of recorded) deps.nudge(tenancyLog(tenantId));
  deps.metrics.audited({ faults: count, atMs: deps.clock.now() });
  await state.finish();
  return { logs: logs.length, leaves: Number(leavesOf(logs)), faults: count };
}

/** Tells the metrics what the last audit found, whichever process ran it. */
export async function tellLastAudit({
  database,
  deployment,
  metrics,
}: Pick<ScheduledAuditDeps, 'database' | 'deployment' | 'metrics'>): Promise<void> {
  const last = await database.inTransaction('system', (tx) =>
    newestSecurityEvent(tx, deployment.deploymentTenancy, ACTION),
  );
  if (!last) return;
  const { faults } = last.attributes['details'] as { readonly faults: string };
  metrics.audited({ faults: Number(faults), atMs: Number(last.createdAtMs) });
}

/** A file that cannot be continued from is removed: this audit begins anew. */
async function openState({ settings, deployment, clock }: ScheduledAuditDeps): Promise<AuditState> {
  const path = join(settings.dataDir, STATE_FILE);
  const times = { now: () => new Date(clock.now()), monotonicMs: () => performance.now() };
  const open = () => openAuditState(path, deployment.deploymentTenancy, times);
  const state = await open().catch((error: unknown) => {
    if (!(error instanceof UnusableAuditState)) throw error;
    return undefined;
  });
  const fresh = state && (!state.continues || clock.now() - state.continues.getTime() < CONTINUED_FOR_MS);
  if (state && fresh) return state;
  await removeFile(path);
  return open();
}

const leavesOf = (logs: readonly AuditedLog[]): bigint => logs.reduce((sum, { leaves }) => sum + leaves, 0n);

/** Returns the tenancies whose logs have a new entry. */
async function record(
  tx: Tx,
  deps: ScheduledAuditDeps,
  logs: readonly AuditedLog[],
  { faults, count }: { readonly faults: readonly Fault[]; readonly count: number },
): Promise<string[]> {
  const { deploymentTenancy } = deps.deployment;
  const recorded: string[] = [];
  for (const tenantId of await listOrganisationIds(tx)) {
    const log = logs.find((each) => each.tenantId === tenantId && each.logId === tenantId);
    const own = faults.filter((each) => each.log === log?.name || each.log === `log ${tenantId}`);
    if (own.length === 0 && (!log || (await hasNothingNew(tx, log)))) continue;
    await recordSecurityEvent(tx, deps, {
      tenantId,
      actor: SERVICE,
      action: ACTION,
      resource: `logs/${tenantId}`,
      outcome: own.length === 0 ? 'success' : 'failure',
      details: {
        leaves: String(log?.leaves ?? 0n),
        seal: String(log?.seals ?? 0n),
        first_leaf_read: String(log?.from ?? 0n),
        ...found(own, own.length),
      },
    });
    recorded.push(tenantId);
  }
  await recordSecurityEvent(tx, deps, {
    tenantId: deploymentTenancy,
    actor: SERVICE,
    action: ACTION,
    resource: 'logs',
    outcome: count === 0 ? 'success' : 'failure',
    details: { logs: String(logs.length), leaves: String(leavesOf(logs)), ...found(faults, count) },
  });
  return [...recorded, deploymentTenancy];
}

function found(faults: readonly Fault[], count: number): Record<string, string | readonly string[]> {
  const first = faults.slice(0, SHOWN_FAULTS).map(({ log, what }) => `${log}: ${what}`);
  return { faults: String(count), ...(first.length > 0 ? { first_faults: first } : {}) };
}

/** A log without entries, or whose last one says that it is sound: without this, every audit would make work for the next. */
async function hasNothingNew(tx: Tx, log: AuditedLog): Promise<boolean> {
  const [last] = log.leaves === 0n ? [] : await leafRange(tx, log, log.leaves - 1n, log.leaves);
  if (!last) return true;
  const [event] = await findAssetFreeEvents(tx, [{ tenantId: last.entryTenantId, eventId: last.entryId }]);
  const { action, outcome } = event?.attributes ?? {};
  return event?.eventType === SECURITY_EVENT_TYPE && action === ACTION && outcome === 'success';
}
