import type { ActTurns } from '../iam/security/act-turns.js';
import type { RefusedActs } from '../iam/security/refused-acts.js';
import type { LogRef } from '../ledger/log.js';
import type { ReceiptWatch } from '../ledger/receipt-watch.js';
import { REGISTRATION_RECORD_ATTRIBUTE, registrationRecordHash } from '../ledger/registration-record.js';
import type { RegisteredEntry } from '../ledger/registration-store.js';
import type { Clock } from '../platform/clock.js';
import { ApiError } from '../platform/errors.js';
import type { Principal } from '../platform/http/principal.js';
import type { Ids } from '../platform/ids.js';
import { inPieces } from '../platform/in-pieces.js';
import type { Keyring } from '../platform/keys/keyring.js';
import type { Logger } from '../platform/logger.js';
import { loopTurn } from '../platform/loop-turn.js';
import type { Database } from '../platform/postgres/database.js';
import { type ExaminedStatement, examineStatement, STATEMENT_LIMITS } from './examine-statement.js';
import { judgedTogether } from './judged-together.js';
import type { RegistrationPolicy } from './registration-policy.js';
import type { RulesCache } from './registration-rules.js';
import type { RegistrationTurn, RegistrationTurns } from './registration-turns.js';
import { hasChain, type KeyResolution, resolveKey } from './resolve-key.js';
import { statementAttributes } from './statement-attributes.js';

/** A statement that passed the policy, as the provenance side turns it into an event. */
interface AcceptedStatement {
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
  readonly refusedActs: RefusedActs;
  readonly actTurns: ActTurns;
  readonly publicUrl: string;
  readonly publicTenancy: string;
  readonly publicStatementLog: LogRef;
  readonly privateStatementLog: LogRef;
  /** Issuer names that only the service itself may use. */
  readonly reservedIssuers: readonly string[];
  readonly receipts: ReceiptWatch;
  readonly keyring: Pick<Keyring, 'everyKey'>;
  readonly rules: RulesCache;
  readonly turns: RegistrationTurns;
  /**
   * Creates the event of a statement; for a statement that was registered before, returns the first event. Declared here,
   * implemented by the provenance side, wired by the composition root. When it resolves, its rows are committed.
   * @param isAwaited whether the caller waits for the receipt
   */
  accept(principal: Principal, statement: AcceptedStatement, isAwaited?: boolean): Promise<RegisteredEntry>;
  /**
   * Announces a statement that is about to be accepted, if the policy allows it. The result ends the announcement, once.
   */
  expect(): () => void;
  /**
   * The same for many, with an entry or a refusal for each in their order. @throws an error that affects all of them
   */
  acceptTogether(
    principal: Principal,
    statements: readonly AcceptedStatement[],
  ): Promise<(RegisteredEntry | ApiError)[]>;
}

/**
 * Registers a statement in the caller's name. The policy decides before anything is written.
 * @param request `turn`: of a caller that waits for the receipt
 * @throws {StatementRefused} by the policy; any error of `accept`
 */
export async function registerStatement(
  deps: ScittDeps,
  principal: Principal,
  request: { readonly submitted: Uint8Array; readonly public: boolean; readonly turn?: RegistrationTurn | undefined },
): Promise<RegisteredEntry> {
  const arrived = deps.expect();
  try {
    const statement = await judged(deps, principal, request);
    const { turn } = request;
    const held = turn?.come();
    if (held) {
      // Others must not wait for what is held.
      arrived();
      await held;
    }
    // Not awaited here: the announcement ends when the statement is submitted.
    return deps.accept(principal, statement, turn !== undefined);
  } finally {
    arrived();
  }
}

/**
 * Registers statements in the caller's name, in one transaction. Resolves with the entry of each, or with its refusal, in
 * their order.
 * @throws an error that affects every statement, such as a database outage
 */
export async function registerTogether(
  deps: ScittDeps,
  principal: Principal,
  request: { readonly statements: readonly Uint8Array[]; readonly public: boolean },
): Promise<(RegisteredEntry | ApiError)[]> {
  const all: (AcceptedStatement | ApiError)[] = [];
  for (const some of judgedTogether(request.statements)) {
    const asked = await inPieces(some, (submitted) => {
      const judging = judged(deps, principal, { submitted, public: request.public }).catch(refusal);
      // It can fail while the next ones are read; the failure is thrown below.
      judging.catch(() => undefined);
      return judging;
    });
    all.push(...(await Promise.all(asked)));
  }
  const good = all.filter((each): each is AcceptedStatement => !(each instanceof ApiError));
  const entries = good.length === 0 ? [] : await deps.acceptTogether(principal, good);
  return all.map((each) => (each instanceof ApiError ? each : entries.shift()!));
}

function refusal(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

/** A statement that the policy accepts. @throws {StatementRefused} */
async function judged(
  deps: ScittDeps,
  principal: Principal,
  request: { readonly submitted: Uint8Array; readonly public: boolean },
): Promise<AcceptedStatement> {
  if (request.submitted.length > STATEMENT_LIMITS.maxBytes)
    throw new ApiError('payload_too_large', `A statement may have at most ${STATEMENT_LIMITS.maxBytes} bytes.`);
  const examined = examineStatement(request.submitted);
  const { tenantId } = principal;
  const rules = await deps.rules.rulesFor(tenantId, examined.issuer, hasChain(examined));
  // All that waited for these rules goes on at once: other requests are served between their chains and keys.
  await loopTurn();
  const { issuerKeys, authorities, selfAsserted } = rules;
  const sources = { issuerKeys, authorities, selfAsserted, reserved: deps.reservedIssuers, nowMs: deps.clock.now() };
  const keyResolution = await resolveKey(examined, sources);
  const { submitted, entry, hash } = examined;
  const { text, digest } = rules.policy;
  const eventAttributes = statementAttributes(examined);
  eventAttributes[REGISTRATION_RECORD_ATTRIBUTE] = registrationRecordHash({ policyDigest: digest, keyResolution });
  return {
    public: request.public,
    eventAttributes,
    statement: { submitted, entry, hash, policy: { text, digest }, keyResolution },
  };
}
