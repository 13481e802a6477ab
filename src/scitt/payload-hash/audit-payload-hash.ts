import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { sha256 } from '../../core/sha256.js';
import { decodeStatement } from '../../core/statement/decode-statement.js';
import { statementEntry } from '../../core/statement/statement-entry.js';
import type { AuditContext } from '../../ledger/audit/audit-context.js';
import { type PayloadHashEvidence, payloadHashEvidence, unregisteredPayloads } from './payload-hash-audit-store.js';

const PAGE = 200;
const NAME = 'payload-hash registrations';

/** Checks that the profile's log commits to the hash of each submitted payload, and to nothing else. */
export async function auditPayloadHash({ database, fault }: Pick<AuditContext, 'database' | 'fault'>): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await database.inTransaction('system', (tx) => payloadHashEvidence(tx, after, PAGE));
    for (const row of rows) {
      const what = faultOf(row);
      if (what) fault(NAME, `entry ${row.entry_id}: ${what}`);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    after = last.entry_id;
  }
  for (const entryId of await database.inTransaction('system', (tx) => unregisteredPayloads(tx, PAGE)))
    fault(NAME, `entry ${entryId} is in the log, but its registration is missing`);
}

function faultOf({ submitted, statement_hash: hash, entry, logged }: PayloadHashEvidence): string | undefined {
  if (!logged) return 'it is not in the payload-hash log';
  try {
    const { payload } = decodeStatement(submitted);
    if (!payload || !entry || !equalBytes(sha256(payload), entry)) return 'the log holds a different payload';
    return equalBytes(sha256(statementEntry(submitted)), hash)
      ? undefined
      : 'its hash differs from that of the submitted statement';
  } catch (error) {
    if (error instanceof VerificationError) return `the submitted statement: ${error.message}`;
    throw error;
  }
}
