import { createSign1, encodeSign1 } from '../core/cose/sign1.js';
import { eventStatement } from '../core/statement/event-statement.js';
import { unsignedStatements } from './intake-store.js';
import type { StatementToSign, WaitingEntry } from './leaf-source.js';
import type { LedgerContext } from './ledger-context.js';
import type { LogRef } from './log.js';
import { insertStatements } from './statement-store.js';

const BATCH = 500;

interface Unsigned extends StatementToSign {
  readonly entry: WaitingEntry;
}

async function unsignedContents(context: LedgerContext, log: LogRef): Promise<Unsigned[]> {
  return context.database.inTransaction('system', async (tx) => {
    const entries = await unsignedStatements(tx, log, BATCH);
    if (entries.length === 0) return [];
    const contents = new Map((await context.statementSource.contents(tx, entries)).map((each) => [each.entryId, each]));
    const missing = entries.filter((entry) => !contents.has(entry.entryId)).map((entry) => entry.entryId);
    if (missing.length > 0) context.logger.error({ logId: log.logId, missing }, 'waiting statements have no content');
    return entries.flatMap((entry) => {
      const found = contents.get(entry.entryId);
      return found ? [{ entry, ...found }] : [];
    });
  });
}

/**
 * Signs at most one batch of waiting statements of a log, and stores each once; needs no lease and holds no lock. If
 * two processes do this at once, the bytes that are stored first are the statement. Resolves with the number of signed
 * statements.
 */
export async function signStatements(context: LedgerContext, log: LogRef): Promise<number> {
  await context.failpoints.reach('sign.before');
  const unsigned = await unsignedContents(context, log);
  if (unsigned.length === 0) return 0;
  const signer = context.keyring.signer('issuer');
  const named = {
    kid: signer.kid,
    alg: signer.alg,
    labels: context.hashEnvelopeLabels ?? 'private',
  };
  const statements = await Promise.all(
    unsigned.map(async ({ entry, tenantId, content }) => {
      const { header, payload } = eventStatement(content, { ...named, issuer: context.statementIssuer(tenantId) });
      const signed = await createSign1(header, payload, signer);
      return {
        tenantId: entry.entryTenantId,
        eventId: entry.entryId,
        // A new signature has no unprotected headers that the entry would have to omit.
        entry: encodeSign1(signed),
      };
    }),
  );
  await context.database.inTransaction('system', async (tx) => {
    await insertStatements(tx, statements);
    await context.failpoints.reach('sign.inside');
  });
  await context.failpoints.reach('sign.after');
  return statements.length;
}
