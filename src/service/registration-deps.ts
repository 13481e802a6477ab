import type { AcceptWriter } from '../archivist/accept/accept-writer.js';
import { type Deployment, statementLog, tenancyLog } from '../archivist/deployment.js';
import { serviceDid } from '../core/statement/issuer-did.js';
import { createReceiptWatch } from '../ledger/receipt-watch.js';
import type { RegisteredEntry } from '../ledger/registration-store.js';
import type { Clock } from '../platform/clock.js';
import type { Ids } from '../platform/ids.js';
import type { Logger } from '../platform/logger.js';
import type { Announcements } from '../platform/postgres/announcements.js';
import type { Database } from '../platform/postgres/database.js';
import type { ScittDeps } from '../scitt/register-statement.js';
import { createRulesCache } from '../scitt/registration-rules.js';

/** What registering statements depends on: the provenance side turns accepted statements into events. */
export function registrationDeps(parts: {
  readonly database: Database;
  readonly announcements: Announcements;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly deployment: Deployment;
  readonly writer: AcceptWriter;
}): ScittDeps {
  const { database, announcements, clock, ids, logger, publicUrl, deployment, writer } = parts;
  const reservedIssuers = [serviceDid(publicUrl), publicUrl];
  return {
    database,
    clock,
    ids,
    logger,
    publicUrl,
    publicTenancy: deployment.publicTenancy,
    publicStatementLog: statementLog(deployment, true),
    privateStatementLog: statementLog(deployment, false),
    reservedIssuers,
    receipts: createReceiptWatch({ database, announcements, logger }),
    rules: createRulesCache({ database, clock, reservedIssuers }),
    tenancyLog,
    async accept(principal, statement): Promise<RegisteredEntry> {
      const accepted = await writer.accept({ kind: 'registration', principal, ...statement });
      if (accepted.kind !== 'registration') throw new TypeError('a registration was answered with another kind');
      return accepted.entry;
    },
  };
}
