import { parseGeneration } from '../fork/log-generation.js';
import { tenancyOfLog } from '../receipt/log-claims.js';
import type { NamedLog } from './claim.js';

/**
 * What tells logs apart: the uuid in the name, with the generation after an open fork. A service that moved signs the same
 * log under another issuer. Undefined for a log without a name.
 */
export function logOf({ issuer, subject }: NamedLog): string | undefined {
  if (subject === undefined) return undefined;
  const name = parseGeneration(subject);
  if (name) return `${name.base.slice(-36)} ${name.generation}`;
  const tenancy = tenancyOfLog({ subject });
  return tenancy ? `${tenancy} 0` : `${subject} of ${issuer}`;
}
