import { permits } from '../../iam/access/permits.js';
import type { ActTurns } from '../../iam/security/act-turns.js';
import { requireRoom } from '../../iam/tenancies/quota.js';
import type { Quotas } from '../../iam/tenancies/quotas.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Ids } from '../../platform/ids.js';
import type { Database, Tx } from '../../platform/postgres/database.js';
import { readAttributes } from '../attributes.js';
import { type ChangeLocationBody, type CreateLocationBody, type Location, locationResponse } from './location.js';
import {
  deleteLocationRow,
  insertLocation,
  type LocationAddress,
  permittedSubjects,
  setPermittedSubjects,
  updateLocation,
} from './location-store.js';
import { locationTenancy, noSuchLocation, ownerOf, permissionsResponse } from './read-locations.js';

export interface WriteLocationDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly quotas: Quotas;
  readonly actTurns: ActTurns;
}

/** Adds a location to the tenancy. @throws {ApiError} forbidden unless the caller is an Owner, quota_reached */
export function createLocation(
  deps: WriteLocationDeps,
  principal: Principal,
  body: CreateLocationBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal);
  const location: Location = {
    tenantId,
    locationId: deps.ids.uuid(),
    displayName: body.display_name,
    description: body.description ?? '',
    latitude: body.latitude,
    longitude: body.longitude,
    attributes: readAttributes(body.attributes, 'attributes'),
    createdAt: new Date(deps.clock.now()),
  };
  const create = async (tx: Tx) => {
    await requireRoom(tx, deps.quotas, tenantId, 'locations');
    await insertLocation(tx, location);
    return locationResponse(location, await ownerOf(tx, tenantId));
  };
  return deps.actTurns.inTurn(tenantId, () =>
    deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, create),
  );
}

/**
 * Changes the fields that the body names. @throws {ApiError} forbidden unless the caller is an Owner or permitted,
 * not_found
 */
export async function changeLocation(
  deps: WriteLocationDeps,
  principal: Principal,
  locationId: string,
  body: ChangeLocationBody,
): Promise<Record<string, unknown>> {
  const tenantId = await locationTenancy(deps, principal, locationId);
  const attributes = body.attributes ? readAttributes(body.attributes, 'attributes') : undefined;
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    const address = { tenantId, locationId };
    await requirePermitted(tx, principal, address);
    const changed = await updateLocation(tx, address, {
      displayName: body.display_name ?? undefined,
      description: body.description ?? undefined,
      latitude: body.latitude ?? undefined,
      longitude: body.longitude ?? undefined,
      attributes,
    });
    if (!changed) throw noSuchLocation();
    return locationResponse(changed, await ownerOf(tx, tenantId));
  });
}

/** @throws {ApiError} forbidden unless the caller is an Owner or permitted, not_found */
export async function deleteLocation(deps: WriteLocationDeps, principal: Principal, locationId: string): Promise<void> {
  const tenantId = await locationTenancy(deps, principal, locationId);
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requirePermitted(tx, principal, { tenantId, locationId });
    if (!(await deleteLocationRow(tx, { tenantId, locationId }))) throw noSuchLocation();
  });
}

/**
 * Sets the subjects besides the Owners that may change the location. @throws {ApiError} forbidden unless the caller is
 * an Owner, not_found
 */
export async function setLocationPermissions(
  deps: WriteLocationDeps,
  principal: Principal,
  locationId: string,
  subjectIdentities: readonly string[],
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal);
  const unique = [...new Set(subjectIdentities)];
  const changed = await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) =>
    setPermittedSubjects(tx, { tenantId, locationId }, unique),
  );
  if (!changed) throw noSuchLocation();
  return permissionsResponse(locationId, unique);
}

/** Only Owners (docs/design/interface.md#who-may-do-what-without-a-policy): permitted subjects cannot permit others. */
function requireManager(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'locations', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may create locations and say who else may change them.');
}

/** Owners and the location's permitted subjects. Another tenancy was found only because it permits the principal's. */
async function requirePermitted(tx: Tx, principal: Principal, address: LocationAddress): Promise<void> {
  const subjects = await permittedSubjects(tx, address);
  if (!subjects) throw noSuchLocation();
  if (address.tenantId !== principal.tenantId) return;
  if (permits(principal, 'manage', { kind: 'location', ...address, permittedSubjects: subjects })) return;
  throw new ApiError('forbidden', 'Only Owners and its permitted subjects may change this location.');
}
