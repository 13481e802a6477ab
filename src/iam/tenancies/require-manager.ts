import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { permits } from '../access/permits.js';

/**
 * Requires an Owner (docs/design/interface.md#who-may-do-what-without-a-policy). @param refusal the description sent to
 * the caller @throws {ApiError} forbidden
 */
export function requireManager(principal: Principal, refusal: string): void {
  if (permits(principal, 'manage', { kind: 'tenancy', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', refusal);
}
