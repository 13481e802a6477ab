import { equalBytes } from '../../core/bytes.js';
import { VerificationError } from '../../core/errors.js';
import { firstName, generationName } from '../../core/fork/log-generation.js';
import { readForkStatement, verifyForkStatement } from '../../core/fork/read-fork-statement.js';
import { leafRange } from '../leaf-store.js';
import { currentGeneration, type ForkedAt, type LogState, nameAt } from '../log.js';
import { logRole } from '../log-keys.js';
import { forkObjectKey } from '../seal-object.js';
import { findSeal } from '../seal-store.js';
import { statementEntries } from '../statement-store.js';
import type { AuditContext } from './audit-context.js';

/**
 * Checks the open forks of a log: each statement is signed, is the first leaf of its generation and the same in the object
 * store, and says where the generation began. No later generation may be in the object store. Faults go to the context.
 */
export async function auditForks(context: AuditContext, log: LogState): Promise<void> {
  for (const fork of log.forks) {
    const found = await forkFault(context, log, fork);
    if (found) context.fault(log.name, `the statement that begins generation ${fork.generation}${found}`);
  }
  const next = currentGeneration(log) + 1;
  if (await context.objectStore.get(forkObjectKey(log.logId, next)))
    context.fault(log.name, `the object store has generation ${next}: the database is older than what was published`);
}

/** What is wrong with a fork; undefined if nothing is. */
async function forkFault(context: AuditContext, log: LogState, fork: ForkedAt): Promise<string | undefined> {
  const { leaf, stored, seal } = await context.database.inTransaction('system', async (tx) => ({
    leaf: (await leafRange(tx, log, fork.leaves, fork.leaves + 1n))[0],
    stored: (await statementEntries(tx, [{ tenantId: log.tenantId, eventId: fork.entryId }]))[0],
    seal: await findSeal(tx, log, fork.sealNumber),
  }));
  const kept = await context.objectStore.get(forkObjectKey(log.logId, fork.generation));
  if (!stored || !kept || !equalBytes(kept, stored.entry))
    return ' differs from the one in the object store, or is missing';
  // Until the first round after the fork, it waits.
  if (leaf ? leaf.entryId !== fork.entryId : log.leaves > fork.leaves) return ' is not its first leaf';
  try {
    const statement = readForkStatement(stored.entry);
    const keys = context.keyring.everyKey([logRole(log)]).map(({ jwk }) => jwk);
    await verifyForkStatement(statement, keys, context.verifySignature);
    const says =
      statement.log === generationName({ base: firstName(log.name), generation: fork.generation }) &&
      statement.continues === nameAt(log, fork.sealNumber) &&
      statement.leaves === fork.leaves &&
      statement.sealNumber === fork.sealNumber &&
      (fork.sealNumber === 0n || (seal?.leaves === fork.leaves && equalBytes(seal.root, statement.root)));
    return says ? undefined : ' contradicts the log';
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return `: ${error.message}`;
  }
}
