import type { LogRef } from '../ledger/log.js';
import type { ReceiptWatch } from '../ledger/receipt-watch.js';
import { REGISTRATION_RECORD_ATTRIBUTE, registrationRecordHash } from '../ledger/registration-record.js';
import type { RegisteredEntry } from '../ledger/registration-store.js';
import type { Clock } from '../platform/clock.js';
import type { Principal } from '../platform/http/principal.js';
import type { Ids } from '../platform/ids.js';
import type { Logger } from '../platform/logger.js';
import type { Database, Tx } from '../platform/postgres/database.js';
import { type ExaminedStatement, examineStatement } from './examine-statement.js';
import { DEFAULT_SETTINGS, type RegistrationPolicy, registrationPolicy } from './registration-policy.js';
import { hasChain, type KeyResolution, type KeySources, resolveKey } from './resolve-key.js';
import { statementAttributes } from './statement-attributes.js';
import { anchorsOfIssuer, findSettings } from './trust-anchor-store.js';

/** A statement that passed the policy, as the provenance side makes an event of it. */
export interface AcceptedStatement {
  readonly public: boolean;
  readonly eventAttributes: Readonly<Record<string, string>>;
  readonly statement: Pick<ExaminedStatement, 'submitted' | 'entry' | 'hash'> & {
    readonly policy: Pick<RegistrationPolicy, 'text' | 'digest'>;
    readonly keyResolution: KeyResolution;
  };
}

export interface ScittDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly publicTenancy: string;
  readonly publicStatementLog: LogRef;
  readonly privateStatementLog: LogRef;
  /** Issuers that nobody but the service itself may be. */
  readonly reservedIssuers: readonly string[];
  readonly receipts: ReceiptWatch;
  /** The MMR log of a tenancy. */
  tenancyLog(tenantId: string): LogRef;
  /**
   * Makes the event of a statement, or answers with the first one when the same statement was registered before: declared
   * here, made by the provenance side, wired by the composition root. From the answer on, its rows are in the database.
   */
  accept(principal: Principal, statement: AcceptedStatement): Promise<RegisteredEntry>;
}

/** The policy of a tenancy as it is now. */
export async function currentPolicy(deps: ScittDeps, tx: Tx, tenantId: string) {
  const settings = (await findSettings(tx, tenantId)) ?? DEFAULT_SETTINGS;
  return { settings, policy: registrationPolicy(settings, deps.reservedIssuers) };
}

/**
 * Registers a statement in the caller's name: the policy decides first, before anything is written.
 * @throws {StatementRefused} by the policy; whatever `accept` throws
 */
export async function registerStatement(
  deps: ScittDeps,
  principal: Principal,
  request: { readonly submitted: Uint8Array; readonly public: boolean },
): Promise<RegisteredEntry> {
  const examined = examineStatement(request.submitted);
  const { tenantId } = principal;
  const { policy, sources } = await deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const { settings, policy } = await currentPolicy(deps, tx, tenantId);
    const sources: KeySources = {
      issuerKeys: await anchorsOfIssuer(tx, tenantId, examined.issuer),
      authorities: hasChain(examined) ? await anchorsOfIssuer(tx, tenantId, '') : [],
      selfAsserted: settings.selfAsserted,
      reserved: deps.reservedIssuers,
      nowMs: deps.clock.now(),
    };
    return { policy, sources };
  });
  const keyResolution = resolveKey(examined, sources);
  const { submitted, entry, hash } = examined;
  const { text, digest } = policy;
  const record = registrationRecordHash({ policyDigest: digest, keyResolution });
  return deps.accept(principal, {
    public: request.public,
    eventAttributes: { ...statementAttributes(examined), [REGISTRATION_RECORD_ATTRIBUTE]: record },
    statement: { submitted, entry, hash, policy: { text, digest }, keyResolution },
  });
}
