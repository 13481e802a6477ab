import { permits } from '../../iam/access/permits.js';
import { requireRoom } from '../../iam/tenancies/quota.js';
import { ApiError } from '../../platform/errors.js';
import type { Principal } from '../../platform/http/principal.js';
import { readAttributes } from '../attributes.js';
import type { ProvenanceDeps } from '../provenance-deps.js';
import { type ChangeLocationBody, type CreateLocationBody, type Location, locationResponse } from './location.js';
import { deleteLocationRow, insertLocation, setPermittedSubjects, updateLocation } from './location-store.js';
import { noSuchLocation, ownerOf, permissionsResponse } from './read-locations.js';

/** Adds a location to the tenancy. @throws {ApiError} forbidden for who is no Owner, quota_reached */
export function createLocation(
  deps: ProvenanceDeps,
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
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    await requireRoom(tx, deps.quotas, tenantId, 'locations');
    await insertLocation(tx, location);
    return locationResponse(location, await ownerOf(tx, tenantId));
  });
}

/** Changes what the body names. @throws {ApiError} forbidden for who is no Owner, not_found */
export function changeLocation(
  deps: ProvenanceDeps,
  principal: Principal,
  locationId: string,
  body: ChangeLocationBody,
): Promise<Record<string, unknown>> {
  const { tenantId } = principal;
  requireManager(principal);
  const attributes = body.attributes ? readAttributes(body.attributes, 'attributes') : undefined;
  return deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, async (tx) => {
    const address = { tenantId, locationId };
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

/** @throws {ApiError} forbidden for who is no Owner, not_found */
export async function deleteLocation(deps: ProvenanceDeps, principal: Principal, locationId: string): Promise<void> {
  const { tenantId } = principal;
  requireManager(principal);
  const deleted = await deps.database.inTransaction({ read: [tenantId], write: [tenantId] }, (tx) =>
    deleteLocationRow(tx, { tenantId, locationId }),
  );
  if (!deleted) throw noSuchLocation();
}

/** Replaces who beside the Owners may change the location. @throws {ApiError} forbidden for who is no Owner, not_found */
export async function setLocationPermissions(
  deps: ProvenanceDeps,
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

/** Owners (DESIGN 10). No token stands for a subject, so permitted subjects write nothing yet. */
function requireManager(principal: Principal): void {
  if (permits(principal, 'manage', { kind: 'locations', tenantId: principal.tenantId })) return;
  throw new ApiError('forbidden', 'Only Owners may create, change and delete locations.');
}
