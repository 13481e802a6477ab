import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Logger } from '../../platform/logger.js';
import type { PrincipalKey } from './principal-key.js';

/**
 * The weight of all policies of a tenancy that name one principal; also of all policies that count for one request
 * (docs/access.md#limits-of-policies).
 */
export const MOST_NAMED = 4_096;
/** The weight of all policies of a tenancy. */
export const MOST_OF_TENANCY = 32_768;
/** Stands for the whole tenancy where weights are named by principal; no principal has this name. */
export const EVERY_POLICY = '*';

type Weights = ReadonlyMap<PrincipalKey | typeof EVERY_POLICY, number>;

/**
 * Refuses a change by which a weight above its limit grows. What was too heavy before may stay so, or get lighter: a
 * change that takes something away is never refused.
 * @throws {ApiError} bad_request naming the limit
 */
export function requireLight(before: Weights, after: Weights): void {
  for (const [principal, weight] of after) {
    if (weight <= (before.get(principal) ?? 0)) continue;
    const advice = 'Give them fewer filters or permissions, or delete some.';
    if (principal === EVERY_POLICY)
      throw new ApiError(
        'bad_request',
        `With this one, the access policies of this tenancy weigh ${weight}; ${MOST_OF_TENANCY} is the limit. ${advice}`,
      );
    throw new ApiError(
      'bad_request',
      `access_permissions: with this one, the access policies that name ${principal} weigh ${weight}; ${MOST_NAMED} is the limit. ${advice}`,
    );
  }
}

/** Tells the operator that policies which name the principal do not count, once a minute for a tenancy. */
export function tellSkipped(
  logger: Logger,
  { principal, skipped }: { readonly principal: Principal; readonly skipped: number },
): void {
  if (skipped === 0) return;
  const err = new Error(
    `access policies that name callers of tenant/${principal.tenantId} weigh more than ${MOST_NAMED}`,
  );
  logger.warn(
    { err, skipped },
    'access policies are ignored, because older ones use up the weight limit: delete some, or give them fewer filters',
  );
}
