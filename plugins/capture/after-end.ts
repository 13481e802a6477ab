import type { Fields } from '../memory/memory.js';
import type { Operation } from '../operation/operation.js';
import { subjectOf } from '../operation/operation-event.js';
import { operationJobId } from '../operation/operation-job.js';
import type { Ended } from './ended.js';

/**
 * Returns the operation that a capture is. A vCon whose end was recorded and that is captured again is back: the same
 * operation on the same bytes is then another one, or the log's last word would be that it is gone. Captured once more,
 * it is the same as after the end.
 * @param late the vCon's last capture is a later one
 * @returns also the fields of the vCon that are to be remembered of it
 */
export function afterEnd(
  { operation, vcon, observed }: Ended,
  fields: Fields,
  late: boolean,
): { readonly identity: Operation; readonly remembered: Fields } {
  const { ended, sequence } = fields;
  const field = `after:${operationJobId(operation, { subject: subjectOf(vcon), payload: vcon.payload })}`;
  // A Redis that lost its last writes gives out an entry again.
  const isNew = !late && observed.sequence !== sequence;
  const isBack = isNew && sequence !== undefined && ended?.startsWith(`${sequence}:`);
  const end = isBack ? ended : fields[field];
  if (end === undefined) return { identity: operation, remembered: {} };
  const nonce = [operation.nonce, end].filter(Boolean).join('.');
  return { identity: { ...operation, nonce }, remembered: { [field]: end } };
}
