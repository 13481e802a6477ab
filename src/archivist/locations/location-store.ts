import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
import { changeRow, deleteRows, findRow, updateRows } from '../../platform/postgres/rows-by-key.js';
import type { Attributes } from '../attributes.js';
import type { Location } from './location.js';

export interface LocationAddress {
  readonly tenantId: string;
  readonly locationId: string;
}

const LOCATION = table('location').columns<Location>({
  tenantId: 'tenant_id',
  locationId: 'location_id',
  displayName: 'display_name',
  description: 'description',
  latitude: 'latitude',
  longitude: 'longitude',
  attributes: 'attributes',
  createdAt: 'created_at',
});
const KEY = ['tenantId', 'locationId'] as const;
const PERMITTED = table('location').columns<LocationAddress & { readonly subjectIdentities: readonly string[] }>({
  tenantId: 'tenant_id',
  locationId: 'location_id',
  subjectIdentities: 'subject_identities',
});
const COLUMNS = selected(LOCATION, 'l');

export async function insertLocation(tx: Tx, location: Location): Promise<void> {
  await insertRows(tx, LOCATION, [location]);
}

export function findLocation(tx: Tx, address: LocationAddress): Promise<Location | undefined> {
  return findRow(tx, LOCATION, KEY, address);
}

/** The fields of a location that may change; undefined ones are unchanged. */
interface LocationChange {
  readonly displayName: string | undefined;
  readonly description: string | undefined;
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
  readonly attributes: Attributes | undefined;
}

/** Changes a location and resolves with the result; undefined when it does not exist. */
export function updateLocation(
  tx: Tx,
  address: LocationAddress,
  change: LocationChange,
): Promise<Location | undefined> {
  const changed = ['displayName', 'description', 'latitude', 'longitude', 'attributes'] as const;
  return changeRow(tx, LOCATION, KEY, changed, { ...change, ...address });
}

/** Deletes a location; false when it does not exist. */
export async function deleteLocationRow(tx: Tx, address: LocationAddress): Promise<boolean> {
  return (await deleteRows(tx, LOCATION, KEY, address)) > 0;
}

/** The subjects besides the Owners that may change the location; undefined when it does not exist. */
export async function permittedSubjects(tx: Tx, address: LocationAddress): Promise<readonly string[] | undefined> {
  return (await findRow(tx, PERMITTED, KEY, address))?.subjectIdentities;
}

/** False when the location does not exist. */
export async function setPermittedSubjects(
  tx: Tx,
  address: LocationAddress,
  subjectIdentities: readonly string[],
): Promise<boolean> {
  return (await updateRows(tx, PERMITTED, KEY, ['subjectIdentities'], { ...address, subjectIdentities })) > 0;
}

/** Conditions refer to a row as `l`. */
export const locationRows = rowList<Location>({
  from: 'archivist.location l',
  columns: COLUMNS,
  large: ['description', 'attributes'],
  idColumn: 'l.location_id',
  idOf: ({ locationId }) => locationId,
  nameColumn: 'l.display_name',
  nameOf: (entry) => entry.displayName,
});
