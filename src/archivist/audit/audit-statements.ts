import { setTimeout as wait } from 'node:timers/promises';
import { isTemplate } from '../../core/statement/vcon-template.js';
import { AuditStopped } from '../../ledger/audit/audit-context.js';
import { committedEntryIds } from '../../ledger/leaf-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import { type Deployment, statementLog } from '../deployment.js';
import type { DeploymentAudit } from './deployment-audit.js';
import {
  assetFreeEvents,
  type EventPages,
  eventsOfAssets,
  type StatedEvent,
  waitingEntryIds,
} from './statement-audit-store.js';

const PAGE = 500;
const NOTHING = '00000000-0000-0000-0000-000000000000';
/** While a deployment is upgraded to records, processes of the version before accept events beside the new ones. */
const UPGRADE_MS = 24n * 3_600_000n;
const MOST_FAULTS = 200;

/** What is known of events without a vCon operation: they have a statement unless they are older than records. */
interface Records {
  /** When the first event with a record was created. */
  first: bigint | undefined;
  /** When the first event that has none was created. */
  firstWithout: bigint | undefined;
  /** The newest events that have none. */
  without: StatedEvent[];
}

/**
 * Checks that each event that must have a statement has an entry in a statement log or waits for one: every vCon operation,
 * and every asset-free event since records began. If the oldest asset-free event has no record, the deployment is older than
 * records, which then count from a day after the first one.
 */
export async function auditStatements(audit: DeploymentAudit): Promise<void> {
  const records: Records = { first: undefined, firstWithout: undefined, without: [] };
  await auditEvents(audit, eventsOfAssets, records);
  await auditEvents(audit, assetFreeEvents, records);
  const { first, firstWithout, without } = records;
  if (first === undefined || firstWithout === undefined) return;
  const begun = firstWithout < first ? first + UPGRADE_MS : first;
  for (const event of without) if (event.recordedMs! >= begun) report(audit, event);
}

function report({ fault }: DeploymentAudit, { tenantId, eventId }: StatedEvent): void {
  fault(`tenant/${tenantId}`, `event ${eventId} has no entry in a statement log and waits for none`);
}

async function auditEvents(audit: DeploymentAudit, pages: EventPages, records: Records): Promise<void> {
  const { database, deployment, stopping, gently = false } = audit;
  for (let after = { tenantId: NOTHING, eventId: NOTHING }; ; ) {
    if (stopping?.()) throw new AuditStopped(`stopped at the statement of event ${after.eventId}`);
    const begun = performance.now();
    const { events, stated } = await database.inTransaction('system', async (tx) => {
      const read = await pages(tx, after, PAGE);
      const stateable = read.filter(({ attributes }) => attributes !== null);
      return { events: read, stated: await statedEvents(tx, deployment, stateable) };
    });
    for (const event of events) {
      const has = stated.has(event.eventId);
      if (event.attributes === null || !isTemplate(event.attributes)) note(records, event, has);
      else if (!has) report(audit, event);
    }
    if (events.length < PAGE) return;
    if (gently) await wait(performance.now() - begun);
    after = events.at(-1)!;
  }
}

/** Which of these events are in a statement log or wait for it. */
async function statedEvents(tx: Tx, deployment: Deployment, events: readonly StatedEvent[]): Promise<Set<string>> {
  const found = new Set<string>();
  const open = () => events.filter((event) => !found.has(event.eventId)).map((event) => event.eventId);
  const logs = [statementLog(deployment, false), statementLog(deployment, true)];
  // Those that wait first: one that is committed meanwhile is then found in its log.
  for (const idsIn of [waitingEntryIds, committedEntryIds])
    for (const log of logs) for (const id of await idsIn(tx, log, open())) found.add(id);
  return found;
}

/** Notes an event without a vCon operation; one of an asset has no statement. */
function note(records: Records, event: StatedEvent, has: boolean): void {
  const { recordedMs: at } = event;
  if (at === null) return;
  if (has) {
    records.first = records.first === undefined || at < records.first ? at : records.first;
    return;
  }
  records.firstWithout = records.firstWithout === undefined || at < records.firstWithout ? at : records.firstWithout;
  records.without.push(event);
  if (records.without.length <= 2 * MOST_FAULTS) return;
  records.without.sort((left, right) => (left.recordedMs! > right.recordedMs! ? -1 : 1));
  records.without.length = MOST_FAULTS;
}
