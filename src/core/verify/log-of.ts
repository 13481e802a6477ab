import { parseGeneration } from '../fork/log-generation.js';
import { tenancyOfLog } from '../receipt/log-claims.js';
import type { NamedLog } from './claim.js';

/**
 * Returns what identifies a log: the uuid in its name, with the generation after an open fork. It does not include the
 * issuer, because a service that moved signs the same log under another issuer. Returns undefined for a log without a
 * name.
 */
export function logOf({ issuer, subject }: NamedLog): string | undefined {
  if (subject === undefined) return undefined;
  const name = parseGeneration(subject);
  if (name) return `${name.base.slice(-36)} ${name.generation}`;
  const tenancy = tenancyOfLog({ subject });
  return tenancy ? `${tenancy} 0` : `${subject} of ${issuer}`;
}
