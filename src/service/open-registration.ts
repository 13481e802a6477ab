import type { AcceptWriter } from '../archivist/accept/accept-writer.js';
import type { Accepted } from '../archivist/accept/submission.js';
import { type Deployment, statementLog } from '../archivist/deployment.js';
import { serviceDid } from '../core/statement/issuer-did.js';
import type { ActTurns } from '../iam/security/act-turns.js';
import type { RefusedActs } from '../iam/security/refused-acts.js';
import type { LogRef } from '../ledger/log.js';
import { createReceiptWatch, type ReceiptWatch } from '../ledger/receipt-watch.js';
import type { RegisteredEntry } from '../ledger/registration-store.js';
import type { Clock } from '../platform/clock.js';
import { ApiError } from '../platform/errors.js';
import type { Feature } from '../platform/feature.js';
import { refusalOf } from '../platform/http/error-reply.js';
import type { Ids } from '../platform/ids.js';
import type { Keyring } from '../platform/keys/keyring.js';
import type { Logger } from '../platform/logger.js';
import type { Announcements } from '../platform/postgres/announcements.js';
import type { Database } from '../platform/postgres/database.js';
import { entryRoutes } from '../scitt/entry-routes.js';
import type { ScittDeps } from '../scitt/register-statement.js';
import { privateScittRoutes, publicScittRoutes } from '../scitt/registered-event-routes.js';
import { createRulesCache } from '../scitt/registration-rules.js';
import { createRegistrationTurns } from '../scitt/registration-turns.js';
import { trustRoutes } from '../scitt/trust-routes.js';

function entryOf(accepted: Accepted): RegisteredEntry {
  if (accepted.kind !== 'registration') throw new TypeError('a registration was answered with another kind');
  return accepted.entry;
}

interface RegistrationBase {
  readonly database: Database;
  readonly announcements: Announcements;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly refusedActs: RefusedActs;
  readonly actTurns: ActTurns;
  readonly logger: Logger;
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly deployment: Deployment;
  readonly writer: AcceptWriter;
  /** Every name that the service has had so far. */
  readonly issuersSoFar: readonly string[];
  /** Called for a log in which a caller waits for a receipt. */
  readonly wanted: (log: LogRef) => void;
}

/** Registration of statements. The provenance side turns accepted statements into events. */
export function openRegistration(base: RegistrationBase): Feature & { readonly scitt: ScittDeps } {
  const { database, announcements, keyring, logger, wanted } = base;
  const receipts = createReceiptWatch({ database, announcements, keyring, logger, wanted });
  const scitt = registrationDeps(base, receipts);
  return {
    scitt,
    routes: {
      'v1/scrapi': entryRoutes(scitt),
      'v1/publicscitt': publicScittRoutes(scitt),
      'v1/scitt': [...privateScittRoutes(scitt), ...trustRoutes(scitt)],
    },
    close: async () => receipts.close(),
  };
}

function registrationDeps(base: RegistrationBase, receipts: ReceiptWatch): ScittDeps {
  const { database, clock, ids, logger, refusedActs, actTurns, keyring, publicUrl, deployment, writer, issuersSoFar } =
    base;
  const reservedIssuers = [...new Set([serviceDid(publicUrl), publicUrl, ...issuersSoFar])];
  return {
    database,
    clock,
    ids,
    logger,
    refusedActs,
    actTurns,
    publicUrl,
    publicTenancy: deployment.publicTenancy,
    publicStatementLog: statementLog(deployment, true),
    privateStatementLog: statementLog(deployment, false),
    reservedIssuers,
    receipts,
    keyring,
    rules: createRulesCache({ database, clock, reservedIssuers }),
    turns: createRegistrationTurns(),
    async accept(principal, statement, isAwaited = false): Promise<RegisteredEntry> {
      return entryOf(await writer.accept({ kind: 'registration', principal, ...statement, isAwaited }));
    },
    expect: writer.expect,
    async acceptTogether(principal, statements) {
      const settled = await writer.acceptTogether(
        statements.map((statement) => ({ kind: 'registration', principal, ...statement })),
      );
      const failed = settled.flatMap((outcome) => ('failed' in outcome ? [outcome.failed] : []));
      if (failed.length > 0 && failed.length === settled.length) throw failed[0];
      for (const error of failed) logger.error({ err: error }, 'a statement of a bulk request failed');
      return settled.map((outcome) => {
        if ('accepted' in outcome) return entryOf(outcome.accepted);
        if ('refused' in outcome) return outcome.refused;
        return (
          refusalOf(outcome.failed) ??
          new ApiError('internal', 'The service failed on this statement. Send it again; its log has the reason.')
        );
      });
    },
  };
}
