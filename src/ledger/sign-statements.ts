import { setImmediate as turn } from 'node:timers/promises';
import { createSign1, encodeSign1 } from '../core/cose/sign1.js';
import type { Signer } from '../core/cose/signature.js';
import { eventStatement } from '../core/statement/event-statement.js';
import type { StatementToSign } from './leaf-source.js';
import type { LedgerContext } from './ledger-context.js';
import type { StoredStatement } from './statement-store.js';

/** So many signatures take a few milliseconds; requests that came meanwhile are then served first. */
const AT_ONCE = 50;

/** A statement to sign and the tenancy that stores it. */
export interface UnsignedStatement extends StatementToSign {
  readonly entryTenantId: string;
}

/** Signs statements, in their order. Nothing is stored: the bytes that the log commits to are the statement. */
export async function signStatements(
  context: LedgerContext,
  unsigned: readonly UnsignedStatement[],
): Promise<StoredStatement[]> {
  const signed: StoredStatement[] = [];
  if (unsigned.length === 0) return signed;
  const signer = context.keyring.signer('issuer');
  for (let first = 0; first < unsigned.length; first += AT_ONCE) {
    if (first > 0) await turn();
    const some = unsigned.slice(first, first + AT_ONCE).map((each) => signOne(context, signer, each));
    signed.push(...(await Promise.all(some)));
  }
  return signed;
}

async function signOne(context: LedgerContext, signer: Signer, unsigned: UnsignedStatement): Promise<StoredStatement> {
  const { header, payload } = eventStatement(unsigned.content, {
    kid: signer.kid,
    alg: signer.alg,
    labels: context.hashEnvelopeLabels ?? 'private',
    issuer: context.statementIssuer(unsigned.tenantId),
  });
  // A new signature has no unprotected headers that the entry would have to omit.
  const entry = encodeSign1(await createSign1(header, payload, signer));
  return { tenantId: unsigned.entryTenantId, eventId: unsigned.entryId, entry };
}
