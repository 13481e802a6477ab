import type { Registrant } from '../../ledger/registrant-store.js';
import type { Outcome, Submission } from './submission.js';

/**
 * Those of a batch whose private statement was registered before, by a request of another time or earlier in the batch.
 * A public registration can be read by anybody.
 */
export function registrantsOfBatch(submissions: readonly Submission[], outcomes: readonly Outcome[]): Registrant[] {
  const registered = new Set<string>();
  const registrants: Registrant[] = [];
  for (const [index, submission] of submissions.entries()) {
    const outcome = outcomes[index];
    if (submission.kind !== 'registration' || submission.public || !outcome || !('accepted' in outcome)) continue;
    const { accepted } = outcome;
    if (accepted.kind !== 'registration') continue;
    const { eventId, repeated } = accepted.entry;
    if (repeated || registered.has(eventId)) {
      const { tenantId, issuer, subject } = submission.principal;
      registrants.push({ tenantId, eventId, issuer, subject });
    }
    registered.add(eventId);
  }
  return registrants;
}
