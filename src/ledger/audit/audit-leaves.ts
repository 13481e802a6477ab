import { equalBytes } from '../../core/bytes.js';
import type { PublicJwk } from '../../core/cose/public-key.js';
import { keyHasKid } from '../../core/cose/verify-sign1.js';
import { VerificationError } from '../../core/errors.js';
import { idtimestampMs } from '../../core/massif/idtimestamp.js';
import { type EventStatement, isRecordStatement, statedRecord } from '../../core/statement/event-statement.js';
import { type ReadStatement, readStatement } from '../../core/statement/signed-statement.js';
import { verifyStatement } from '../../core/verify/verify-statement.js';
import type { Tx } from '../../platform/postgres/database.js';
import { leafEntries } from '../leaf-entries.js';
import type { LeafRow } from '../leaf-store.js';
import type { LogState } from '../log.js';
import { statementEntries } from '../statement-store.js';
import type { AuditContext } from './audit-context.js';

const NO_EXTRA_BYTES = new Uint8Array(24);

/**
 * Derives the leaves of these rows again from their events or statements; a row whose entry is missing gets none. Also
 * compares the data stored with each leaf: trie key, extra bytes, time of commit.
 */
export async function deriveLeaves(
  tx: Tx,
  context: AuditContext,
  log: LogState,
  rows: readonly LeafRow[],
): Promise<(Uint8Array | undefined)[]> {
  const entries = await leafEntries(tx, context, log, rows);
  await auditStatements(tx, context, log, rows);
  return rows.map((row) => {
    const entry = entries.get(row.entryId);
    const place = `leaf ${row.leafIndex}`;
    if (!entry) {
      context.fault(log.name, `${place}: its ${row.entryKind} ${row.entryId} is gone`);
      return undefined;
    }
    if (row.timestampCommitted !== new Date(idtimestampMs(row.idtimestamp)).toISOString())
      context.fault(log.name, `${place}: timestamp_committed is not the time of its idtimestamp`);
    if (log.structure === 'MMR_SHA256') {
      if (!row.trieKey || !entry.trieKey || !equalBytes(row.trieKey, entry.trieKey))
        context.fault(log.name, `${place}: its trie key is not that of its event`);
      if (!equalBytes(row.extraBytes ?? NO_EXTRA_BYTES, entry.extraBytes ?? NO_EXTRA_BYTES))
        context.fault(log.name, `${place}: its extra bytes are not those of its event`);
    }
    return entry.leaf(row.idtimestamp, row.timestampCommitted);
  });
}

/** Checks that the service's statement of an event has a valid signature and matches the event. */
async function auditStatements(tx: Tx, context: AuditContext, log: LogState, rows: readonly LeafRow[]): Promise<void> {
  const statements = rows.filter((row) => row.entryKind === 'statement');
  if (statements.length === 0) return;
  const contents = await context.statementSource.contents(tx, statements);
  const stored = await statementEntries(
    tx,
    statements.map((row) => ({ tenantId: row.entryTenantId, eventId: row.entryId })),
  );
  const bytes = new Map(stored.map(({ eventId, entry }) => [eventId, entry]));
  const issuerKeys = context.keyring.everyKey(['issuer']).map((key) => key.jwk);
  // All at once: signatures are verified beside each other where the platform has threads for it.
  const found = await Promise.all(
    contents.map(({ entryId, content }) => {
      const entry = bytes.get(entryId);
      return entry && statementFault(context, issuerKeys, entry, content);
    }),
  );
  for (const [place, { entryId }] of contents.entries())
    if (found[place]) context.fault(log.name, `the statement of event ${entryId}${found[place]}`);
}

/** What is wrong with a statement; undefined if nothing is. */
async function statementFault(
  context: AuditContext,
  issuerKeys: readonly PublicJwk[],
  entry: Uint8Array,
  content: EventStatement,
): Promise<string | undefined> {
  try {
    const statement = readStatement(entry);
    if (!saysTheSame(statement, content)) return ' says something else than the event';
    // A registered statement is signed by another party; asset-free events have only our own statements.
    const { kid } = statement;
    const named = kid ? issuerKeys.filter((key) => keyHasKid(key, kid)) : [];
    if (named.length > 0 || content.record)
      await verifyStatement(entry, { issuerKeys: named, verifySignature: context.verifySignature });
    return undefined;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return `: ${error.message}`;
  }
}

/**
 * Whether a statement is about this vCon operation, and about this record if it names one: older statements name none.
 */
function saysTheSame(statement: ReadStatement, { template, record }: EventStatement): boolean {
  const stated = statedRecord(statement);
  if (stated && !(record && equalBytes(stated, record.digest))) return false;
  if (!template) return isRecordStatement(statement) && stated !== undefined && statement.subject === record.identity;
  return (
    statement.subject === template.subject &&
    statement.payloadHashAlg === template.payloadHashAlg &&
    statement.payloadHash !== undefined &&
    equalBytes(statement.payloadHash, template.payload)
  );
}
