import { z } from 'zod';
import { wantsExactTotal } from '../../platform/http/exact-total.js';
import { type Route, route } from '../../platform/http/route.js';
import { NAME_ORDERS } from '../../platform/listing/list-order.js';
import { listQuerySchema } from '../../platform/listing/list-query.js';
import { pageReply, pageSchema } from '../../platform/listing/page-reply.js';
import { uuidSchema } from '../../platform/uuid-schema.js';
import {
  changeLocationSchema,
  createLocationSchema,
  locationPermissionsSchema,
  locationSchema,
  shownPermissionsSchema,
} from './location.js';
import { LOCATION_FILTERS } from './location-filter-store.js';
import { type ListLocationsDeps, listLocations, readLocation, readLocationPermissions } from './read-locations.js';
import {
  changeLocation,
  createLocation,
  deleteLocation,
  setLocationPermissions,
  type WriteLocationDeps,
} from './write-location.js';

export type LocationDeps = ListLocationsDeps & WriteLocationDeps;

const LOCATIONS = '/archivist/v2/locations';
const byUuid = z.object({ uuid: uuidSchema });
const shared = { access: 'token', success: 200 } as const;

/** Locations and their permissions (docs/design/interface.md#locations). */
export function locationRoutes(deps: LocationDeps): Route[] {
  return [...collectionRoutes(deps), ...itemRoutes(deps), ...permissionRoutes(deps)];
}

function collectionRoutes(deps: LocationDeps): Route[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path: LOCATIONS,
      operationId: 'Locations_ListLocations',
      summary: 'List locations, newest first or by name',
      codes: [206, 400, 401, 403, 429],
      query: listQuerySchema(LOCATION_FILTERS, { attributes: ['attributes.'], values: { order_by: NAME_ORDERS } }),
      response: pageSchema('locations', locationSchema),
      handle: async ({ principal, query, headers }) =>
        pageReply('locations', await listLocations(deps, principal, { query, exactTotal: wantsExactTotal(headers) })),
    }),
    route({
      ...shared,
      method: 'POST',
      path: LOCATIONS,
      operationId: 'Locations_CreateLocation',
      summary: 'Create a location',
      example: { display_name: 'Call center Berlin', latitude: 52.52, longitude: 13.405 },
      codes: [400, 401, 402, 403, 413, 429],
      body: createLocationSchema,
      response: locationSchema,
      handle: async ({ principal, body }) => ({ body: await createLocation(deps, principal, body) }),
    }),
  ];
}

function itemRoutes(deps: LocationDeps): Route[] {
  const item = { ...shared, path: `${LOCATIONS}/:uuid`, params: byUuid } as const;
  return [
    route({
      ...item,
      method: 'GET',
      operationId: 'Locations_GetLocation',
      summary: 'Read a location',
      codes: [400, 401, 403, 404, 429],
      response: locationSchema,
      handle: async ({ principal, params }) => ({ body: await readLocation(deps, principal, params.uuid) }),
    }),
    route({
      ...item,
      method: 'PATCH',
      operationId: 'Locations_UpdateLocation',
      summary: 'Change a location',
      codes: [400, 401, 403, 404, 413, 429],
      body: changeLocationSchema,
      response: locationSchema,
      handle: async ({ principal, params, body }) => ({
        body: await changeLocation(deps, principal, params.uuid, body),
      }),
    }),
    route({
      ...item,
      method: 'DELETE',
      operationId: 'Locations_DeleteLocation',
      summary: 'Delete a location',
      codes: [400, 401, 403, 404, 429],
      response: z.strictObject({}),
      handle: async ({ principal, params }) => {
        await deleteLocation(deps, principal, params.uuid);
        return { body: {} };
      },
    }),
  ];
}

function permissionRoutes(deps: LocationDeps): Route[] {
  const permissions = { ...shared, path: `${LOCATIONS}/:uuid/permissions`, params: byUuid } as const;
  return [
    route({
      ...permissions,
      method: 'GET',
      operationId: 'Locations_GetLocationPermissions',
      summary: 'List who may change a location besides the Owners',
      codes: [400, 401, 403, 404, 429],
      response: shownPermissionsSchema,
      handle: async ({ principal, params }) => ({ body: await readLocationPermissions(deps, principal, params.uuid) }),
    }),
    route({
      ...permissions,
      method: 'PATCH',
      operationId: 'Locations_SetLocationPermissions',
      summary: 'Set who may change a location besides the Owners',
      codes: [400, 401, 403, 404, 413, 429],
      body: locationPermissionsSchema,
      response: shownPermissionsSchema,
      handle: async ({ principal, params, body }) => ({
        body: await setLocationPermissions(deps, principal, params.uuid, body.subject_identities),
      }),
    }),
  ];
}
