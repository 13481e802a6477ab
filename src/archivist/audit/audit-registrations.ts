import { equalBytes, toBase64, toHex, utf8 } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { sha256 } from '../../core/sha256.js';
import { statementEntry } from '../../core/statement/statement-entry.js';
import { REGISTRATION_RECORD_ATTRIBUTE, registrationRecordHash } from '../../ledger/registration-record.js';
import type { DeploymentAudit } from './deployment-audit.js';
import {
  type RegistrationEvidence,
  registrationEvidence,
  unregisteredStatementEvents,
} from './registration-audit-store.js';

const PAGE = 200;
const NOTHING = '00000000-0000-0000-0000-000000000000';
const NAME = 'registrations';

/**
 * Checks every registration against the logs: the submitted bytes are the statement of the entry and are in the event,
 * the policy is the one that is named, and the event names both.
 */
export async function auditRegistrations(audit: DeploymentAudit): Promise<void> {
  const { database, deployment, fault } = audit;
  for (let after = { tenantId: NOTHING, eventId: NOTHING }; ; ) {
    const rows = await database.inTransaction('system', (tx) =>
      registrationEvidence(tx, deployment.publicTenancy, after, PAGE),
    );
    for (const row of rows)
      for (const what of faultsOf(row)) fault(NAME, `the registration of event ${row.event_id}: ${what}`);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    after = { tenantId: last.tenant_id, eventId: last.event_id };
  }
  const strays = await database.inTransaction('system', (tx) =>
    unregisteredStatementEvents(tx, deployment.publicTenancy, PAGE),
  );
  for (const eventId of strays) fault(NAME, `event ${eventId} has a registered statement, but no registration`);
}

function faultsOf(row: RegistrationEvidence): string[] {
  const attributes = row.event_attributes;
  if (!attributes || !row.entry) return ['its event or its statement is missing'];
  const entry = entryOf(row.submitted);
  const { issuer, subject } = row.principal_accepted ?? {};
  const recorded = attributes[REGISTRATION_RECORD_ATTRIBUTE];
  const record = registrationRecordHash({ policyDigest: row.policy_digest, keyResolution: row.key_resolution });
  const holds: [string, boolean][] = [
    ['the submitted statement differs from the one in the log', !!entry && equalBytes(entry, row.entry)],
    ['its hash differs from that of the entry', toHex(row.statement_hash) === toHex(sha256(row.entry))],
    [
      'the submitted statement differs from the one that the event carries',
      attributes['signed_statement'] === toBase64(row.submitted),
    ],
    ['it names a different asset than its event', row.asset_id === row.event_asset_id],
    ["its asset is not the tenancy's asset for statements", row.asset_id === row.statement_asset_id],
    [
      'it names a different registrant than the event',
      row.creator_issuer === issuer && row.creator_subject === subject,
    ],
    ['it has a different time than the event', row.registered_at.getTime() === row.accepted_at?.getTime()],
    ['its policy is missing or was changed', !!row.policy && equalBytes(sha256(utf8(row.policy)), row.policy_digest)],
    // Events from before this attribute existed do not have it.
    ['its policy or its key differs from what the event names', recorded === undefined || recorded === record],
  ];
  return holds.filter(([, held]) => !held).map(([what]) => what);
}

function entryOf(submitted: Uint8Array): Uint8Array | undefined {
  try {
    return statementEntry(submitted);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}
