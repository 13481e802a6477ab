import { confirmedShares } from '../../iam/access/confirmed-share-store.js';
import { permits } from '../../iam/access/permits.js';
import { walletAddresses } from '../../iam/tenancies/tenancy-store.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { condition } from '../../platform/listing/condition.js';
import { listPage, type Page } from '../../platform/listing/list-page.js';
import { readListQuery } from '../../platform/listing/list-query.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import type { PageTokens } from '../../platform/postgres/page-token.js';
import { locationIdentity, locationResponse } from './location.js';
import { locationConditions } from './location-filter-store.js';
import { findLocation, locationRows, permittedSubjects } from './location-store.js';

export interface ListLocationsDeps {
  readonly database: Database;
  readonly pageTokens: PageTokens;
}

/**
 * Returns one location, to every identity of its tenancy and to permitted organisations. @throws {ApiError} not_found
 */
export function readLocation(
  deps: { readonly database: Database },
  principal: Principal,
  locationId: string,
): Promise<Record<string, unknown>> {
  requireReader(principal);
  return locationTenancy(deps, principal, locationId).then((tenantId) =>
    deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
      const location = await findLocation(tx, { tenantId, locationId });
      if (!location) throw noSuchLocation();
      return locationResponse(location, await ownerOf(tx, tenantId));
    }),
  );
}

/**
 * The tenancy of a location: the principal's own, or one that permits the principal's organisation to change it.
 * The principal's own if there is no such location.
 */
export async function locationTenancy(
  { database }: { readonly database: Database },
  principal: Principal,
  locationId: string,
): Promise<string> {
  const own = principal.tenantId;
  const shares = await database.inTransaction({ read: [own], write: [] }, async (tx) =>
    (await permittedSubjects(tx, { tenantId: own, locationId })) ? [] : confirmedShares(tx, own),
  );
  for (const { tenantId, knownThereAs } of shares) {
    const address = { tenantId, locationId };
    const scope = { read: [tenantId], write: [] };
    const subjects = await database.inTransaction(scope, (tx) => permittedSubjects(tx, address));
    const resource = { kind: 'location', tenantId, permittedSubjects: subjects ?? [], knownAs: knownThereAs } as const;
    if (permits(principal, 'read', resource)) return tenantId;
  }
  return own;
}

/** Returns the subjects besides the Owners that may change a location. @throws {ApiError} not_found */
export async function readLocationPermissions(
  deps: { readonly database: Database },
  principal: Principal,
  locationId: string,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireReader(principal);
  const subjects = await deps.database.inTransaction({ read: [tenantId], write: [] }, (tx) =>
    permittedSubjects(tx, { tenantId, locationId }),
  );
  if (!subjects) throw noSuchLocation();
  return permissionsResponse(locationId, subjects);
}

export function permissionsResponse(locationId: string, subjects: readonly string[]): Record<string, unknown> {
  return { location_identity: locationIdentity(locationId), permissions: { subject_identities: subjects } };
}

/** Lists a page of the tenancy's locations. */
export function listLocations(
  deps: ListLocationsDeps,
  principal: Principal,
  request: { query: Readonly<Record<string, unknown>>; exactTotal: boolean },
): Promise<Page<Record<string, unknown>>> {
  const { tenantId } = principal;
  requireReader(principal);
  const list = `locations ${tenantId}`;
  const query = readListQuery(request.query, list, deps.pageTokens);
  const conditions = [condition('l.tenant_id = ?', tenantId), ...locationConditions(query.filters)];
  return deps.database.inTransaction({ read: [tenantId], write: [] }, async (tx) => {
    const reader = locationRows.reader(tx, query.filters);
    const { exactTotal } = request;
    const page = await listPage(reader, { list, query, conditions, exactTotal, tokens: deps.pageTokens });
    const owner = await ownerOf(tx, tenantId);
    return { ...page, entries: page.entries.map((location) => locationResponse(location, owner)) };
  });
}

/** The tenancy's wallet address, which is the owner of every location of the tenancy. */
export async function ownerOf(tx: Tx, tenantId: string): Promise<string> {
  const owner = (await walletAddresses(tx, [tenantId])).get(tenantId);
  if (owner === undefined) throw new ApiError('unauthorized', 'The tenancy of this token does not exist.');
  return owner;
}

export function noSuchLocation(): ApiError {
  return new ApiError('not_found', 'There is no such location.');
}

function requireReader(principal: Principal): void {
  if (permits(principal, 'read', { kind: 'locations', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'This identity may not read locations.');
}
