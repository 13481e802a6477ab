import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import { type Condition, condition, meaning } from '../../platform/listing/condition.js';
import type { Filters } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import { readTimestamp } from '../../platform/timestamps.js';

const TEXTS: Readonly<Record<string, string>> = {
  action: `e.attributes ->> 'action'`,
  outcome: `e.attributes ->> 'outcome'`,
  resource: `e.attributes ->> 'resource'`,
  actor: `e.attributes -> 'actor' ->> 'subject'`,
};
const TIMES: Readonly<Record<string, '>=' | '<'>> = { since: '>=', before: '<' };
export const SECURITY_EVENT_FILTERS = [...Object.keys(TEXTS), ...Object.keys(TIMES)];

/**
 * Returns the conditions of a list of security events; `since` is inclusive, `before` is exclusive.
 * @throws {ApiError} bad_request for an unknown filter or value
 */
export function securityEventConditions(tenantId: string, filters: Filters): Condition[] {
  const asked = filters.map(([parameter, value]) => {
    if (Object.hasOwn(TIMES, parameter))
      return meaning(
        { kind: 'indexed' },
        condition(`e.created_at_ms ${TIMES[parameter]} ?`, readTimestamp(value, parameter).firstMs),
      );
    if (!Object.hasOwn(TEXTS, parameter)) throw noSuchFilter(parameter, SECURITY_EVENT_FILTERS);
    requirePlain(value, parameter);
    return condition(`${TEXTS[parameter]} = ?`, value);
  });
  // A literal, not a parameter: the planner uses the partial index only for a value that it knows.
  return [
    meaning({ kind: 'tenancy', tenantId }, condition('e.tenant_id = ?', tenantId)),
    meaning({ kind: 'range' }, condition(`e.event_type = '${SECURITY_EVENT_TYPE}'`)),
    ...asked,
  ];
}
