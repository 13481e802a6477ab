import { leafRange } from '../leaf-store.js';
import type { LogState } from '../log.js';
import { findSeal } from '../seal-store.js';
import type { AuditContext } from './audit-context.js';
import type { AuditFrontier } from './audit-frontier.js';
import { auditSeal } from './audit-seals.js';

/**
 * Whether a later run may continue at this state: the log still has the seal, and the seal is validly signed over exactly
 * this state. It proves that the leaves are the same as then; not that their events and statements are.
 */
export async function isStillSealed(context: AuditContext, log: LogState, frontier: AuditFrontier): Promise<boolean> {
  const { seal, last } = await context.database.inTransaction('system', async (tx) => ({
    seal: await findSeal(tx, log, frontier.sealNumber),
    last: (await leafRange(tx, log, frontier.leaves - 1n, frontier.leaves))[0],
  }));
  // The seals of RFC 9162 logs sign no idtimestamp.
  if (seal?.leaves !== frontier.leaves || last?.idtimestamp !== frontier.lastIdtimestamp) return false;
  let sound = true;
  const strict = {
    ...context,
    fault: () => {
      sound = false;
    },
  };
  await auditSeal(strict, log, seal, frontier);
  return sound;
}
