import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { type Filters, readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { permits } from '../access/permits.js';
import { applicationResponse } from './application.js';
import { applicationRows, findApplication, findValidities } from './application-store.js';
import { noSuchApplication } from './write-application.js';

/** One application, without its secret. @throws {ApiError} forbidden if the caller is not an Owner, not_found */
export function readApplication(
  deps: { readonly database: Database },
  principal: Principal,
  applicationId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireReader(principal);
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const found = await findApplication(tx, { tenantId, applicationId });
    if (!found) throw noSuchApplication();
    return applicationResponse(found, await findValidities(tx, tenantId, [applicationId]));
  });
}

/** A page of the tenancy's applications, newest first, without their secrets. @throws {ApiError} forbidden */
export function listApplications(
  deps: { readonly database: Database; readonly pageTokens: PageTokens },
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireReader(principal);
  const list = `applications ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('a.tenant_id = ?', tenantId), ...applicationConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = applicationRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const tokens = deps.pageTokens;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens });
    const ids = page.entries.map(({ applicationId }) => applicationId);
    const validities = await findValidities(tx, tenantId, ids);
    const entries = page.entries.map((application) =>
      applicationResponse(
        application,
        validities.filter(({ applicationId }) => applicationId === application.applicationId),
      ),
    );
    return { ...page, entries };
  });
}

function applicationConditions(filters: Filters): Condition[] {
  return filters.map(([parameter, value]) => {
    if (parameter !== 'display_name') throw noSuchFilter(parameter, ['display_name']);
    requirePlain(value, parameter);
    return condition('a.display_name = ?', value);
  });
}

function requireReader(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'tenancy', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may read the applications of a tenancy.');
}
