import { setTimeout as wait } from 'node:timers/promises';
import { auditAnchors } from '../archivist/audit/audit-anchors.js';
import { auditAssets } from '../archivist/audit/audit-assets.js';
import { auditBlobs } from '../archivist/audit/audit-blobs.js';
import { auditChain } from '../archivist/audit/audit-chain.js';
import { auditKeys, type KnownRoot } from '../archivist/audit/audit-keys.js';
import { auditRegistrations } from '../archivist/audit/audit-registrations.js';
import { auditSchema } from '../archivist/audit/audit-schema.js';
import { auditStatements } from '../archivist/audit/audit-statements.js';
import { strayRows } from '../archivist/audit/stray-row-store.js';
import { type Deployment, keysLog } from '../archivist/deployment.js';
import { leafSource } from '../archivist/leaf-source.js';
import { statementSource } from '../archivist/statement-source.js';
import { unloggedEvents } from '../archivist/unlogged-events-store.js';
import type { NoteKey } from '../core/tlog/signed-note.js';
import { type AuditContext, AuditStopped } from '../ledger/audit/audit-context.js';
import { type AuditedLog, auditLog } from '../ledger/audit/audit-log.js';
import { allLogs } from '../ledger/audit/audit-store.js';
import { auditWitnesses } from '../ledger/audit/audit-witnesses.js';
import { createDeriveRange, type DeriveRange } from '../ledger/audit/derive-range.js';
import type { LogRef } from '../ledger/log.js';
import { ApiError } from '../platform/errors.js';
import { ObjectStoreFailed } from '../platform/object-store-failed.js';
import { isDatabaseUnavailable } from '../platform/postgres/transient-errors.js';
import { TimeLimitError } from '../platform/time-limit.js';
import { auditPayloadHash } from '../scitt/payload-hash/audit-payload-hash.js';
import type { AuditThreads } from './audit-threads.js';

/** The deployment to audit, and the keys to audit it with. */
interface Audited
  extends Omit<AuditContext, 'leafSource' | 'statementSource' | 'derive' | 'rangesAhead' | 'rangeLeaves'> {
  readonly deployment: Deployment;
  /** Threads that derive leaves; without them, leaves are derived here. */
  readonly threads?: Pick<AuditThreads, 'derive' | 'rangesAtOnce'> | undefined;
  /** Reads little at a time and rests as long as it works: for an audit beside requests. */
  readonly gently?: boolean;
  readonly witnesses: readonly NoteKey[];
  readonly quorum: number;
  /** How many logs are audited at a time. */
  readonly atOnce: number;
  /** What the auditor knows of the root key. Without it, manifests are only compared with each other. */
  readonly root?: KnownRoot;
}

const MOST_STRAYS = 200;
/** While one range waits for signatures, another is read. */
const RANGES_AHEAD = 2;
/** Leaves of a range, each range in one transaction. */
const RANGE = 1024n;
/** The embedded database does nothing else during a transaction. */
const GENTLE_RANGE = 64n;

/**
 * Rebuilds a deployment's logs, assets, registrations, witnessed checkpoints, anchors and chain, and compares them with what is
 * stored. Reports each fault to the context.
 */
export async function auditDeployment(audited: Audited): Promise<AuditedLog[]> {
  const { database, deployment, fault } = audited;
  const { deploymentTenancy, publicTenancy, publicStatementLog, privateStatementLog } = deployment;
  const context = contextOf(audited);
  const logs = await auditLogs(context, audited.atOnce);
  const publicLog = { tenantId: publicTenancy, logId: publicStatementLog };
  for (const log of [publicLog, { tenantId: deploymentTenancy, logId: privateStatementLog }, keysLog(deployment)])
    if (!logs.some(({ tenantId, logId }) => tenantId === log.tenantId && logId === log.logId))
      fault('logs', `statement log ${log.logId} is missing`);
  const readable = (name: string, part: () => Promise<void>) => auditPart(audited, name, part);
  await readable('keys', async () => void (await auditKeys(audited)));
  await readable('rows', async () => {
    const unlogged = await database.inTransaction('system', (tx) => unloggedEvents(tx, MOST_STRAYS));
    for (const { tenantId, eventId } of unlogged) fault(`tenant/${tenantId}`, `event ${eventId} was never accepted`);
    const strays = await database.inTransaction('system', (tx) => strayRows(tx, publicLog, MOST_STRAYS));
    for (const { name, what } of strays) fault(name, what);
  });
  await readable('schema', () => auditSchema(audited));
  await readable('assets', () => auditAssets(audited));
  await readable('blobs', () => auditBlobs(audited));
  await readable('statements', () => auditStatements(audited));
  await readable('registrations', () => auditRegistrations(audited));
  await readable('payload-hash registrations', () => auditPayloadHash(audited));
  await readable('witnesses', () => auditWitnesses({ ...audited, publicLog, keysLog: keysLog(deployment) }));
  await readable('anchors', () => auditAnchors(audited));
  await readable('chain', () => auditChain(audited));
  return logs;
}

function contextOf(audited: Audited): AuditContext {
  const { threads, gently = false } = audited;
  const sources = { ...audited, leafSource, statementSource };
  const issuerKeys = audited.keyring.everyKey(['issuer']).map(({ jwk }) => jwk);
  const derive = threads?.derive ?? createDeriveRange({ ...sources, issuerKeys });
  return {
    ...sources,
    derive: gently ? withRests(derive) : derive,
    rangesAhead: gently ? 1 : (threads?.rangesAtOnce ?? RANGES_AHEAD),
    rangeLeaves: gently ? GENTLE_RANGE : RANGE,
  };
}

/** After each range, waits as long as the range took. */
function withRests(derive: DeriveRange): DeriveRange {
  return async (...range) => {
    const begun = performance.now();
    const derived = await derive(...range);
    await wait(performance.now() - begun);
    return derived;
  };
}

/** Some logs beside each other: while one waits for rows or for signatures, another is derived. */
async function auditLogs(context: AuditContext, atOnce: number): Promise<AuditedLog[]> {
  const refs = await context.database.inTransaction('system', allLogs);
  const audited = new Map<LogRef, AuditedLog>();
  const open = refs.values();
  const some = async (): Promise<void> => {
    for (const ref of open)
      await auditPart(context, `log ${ref.logId}`, async () => {
        audited.set(ref, await auditLog(context, ref));
      });
  };
  await Promise.all(Array.from({ length: atOnce }, some));
  return refs.flatMap((ref) => audited.get(ref) ?? []);
}

/**
 * A part that is too damaged to be audited counts as a fault. Outages of the database and of the object store, which prove
 * no damage, and a stop are rethrown.
 */
async function auditPart(
  { fault, stopping }: Pick<AuditContext, 'fault' | 'stopping'>,
  name: string,
  part: () => Promise<void>,
): Promise<void> {
  if (stopping?.()) throw new AuditStopped(`stopped before ${name}`);
  try {
    await part();
  } catch (error) {
    if (isDatabaseUnavailable(error) || isStoreUnavailable(error) || error instanceof AuditStopped) throw error;
    fault(name, `cannot be audited: ${(error as Error).message}`);
  }
}

function isStoreUnavailable(error: unknown): boolean {
  const missing = error instanceof ApiError && error.code === 'unavailable';
  return missing || error instanceof ObjectStoreFailed || error instanceof TimeLimitError;
}
