import type { Principal } from '../../platform/http/principal.js';
import { type Condition, condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { type Filters, readListQuery } from '../../platform/listing/list-query.js';
import { noSuchFilter } from '../../platform/listing/no-such-filter.js';
import { requirePlain } from '../../platform/plain-text.js';
import type { Database } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { requireManager } from '../tenancies/require-manager.js';
import { tlsCaCertificateResponse } from './tls-ca-certificate.js';
import { findTlsCaCertificate, tlsCaCertificateRows } from './tls-ca-certificate-store.js';
import { noSuchTlsCaCertificate } from './write-tls-ca-certificate.js';

const OWNERS_ONLY = 'Only Owners may read the TLS CA certificates of a tenancy.';

/** One certificate. @throws {ApiError} forbidden if the caller is not an Owner, not_found */
export async function readTlsCaCertificate(
  deps: { readonly database: Database },
  principal: Principal,
  certificateId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal, OWNERS_ONLY);
  const found = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    findTlsCaCertificate(tx, { tenantId, certificateId }),
  );
  if (!found) throw noSuchTlsCaCertificate();
  return tlsCaCertificateResponse(found);
}

/** A page of the tenancy's certificates, newest first or by name. @throws {ApiError} forbidden if the caller is not an Owner */
export async function listTlsCaCertificates(
  deps: { readonly database: Database; readonly pageTokens: PageTokens },
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireManager(principal, OWNERS_ONLY);
  const list = `tls ca certificates ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('c.tenant_id = ?', tenantId), ...certificateConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = tlsCaCertificateRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const tokens = deps.pageTokens;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens });
    return { ...page, entries: page.entries.map(tlsCaCertificateResponse) };
  });
}

function certificateConditions(filters: Filters): Condition[] {
  return filters.flatMap(([parameter, value]) => {
    if (parameter === 'order_by') return [];
    if (parameter !== 'display_name') throw noSuchFilter(parameter, ['display_name', 'order_by']);
    requirePlain(value, parameter);
    return condition('c.display_name = ?', value);
  });
}
