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

/** A statement that passed the policy, as the provenance side turns it into an event. */
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
  /** Issuer names that only the service itself may use. */
  readonly reservedIssuers: readonly string[];
  readonly receipts: ReceiptWatch;
  /** The MMR log of a tenancy. */
  tenancyLog(tenantId: string): LogRef;
  /**
   * Creates the event of a statement; for a statement that was registered before, returns the first event. Declared
   * here, implemented by the provenance side, wired by the composition root. When it resolves, its rows are committed.
   */
  accept(principal: Principal, statement: AcceptedStatement): Promise<RegisteredEntry>;
}

/** The current policy of a tenancy. */
export async function currentPolicy(deps: ScittDeps, tx: Tx, tenantId: string) {
  const settings = (await findSettings(tx, tenantId)) ?? DEFAULT_SETTINGS;
  return { settings, policy: registrationPolicy(settings, deps.reservedIssuers) };
}

/**
 * Registers a statement in the caller's name. The policy decides before anything is written.
 * @throws {StatementRefused} by the policy; any error of `accept`
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
