import { rowList } from '../../platform/listing/row-list-store.js';
import { selected, table } from '../../platform/postgres/columns.js';
import type { Tx } from '../../platform/postgres/database.js';
import { insertRows } from '../../platform/postgres/insert-rows.js';
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
const COLUMNS = selected(LOCATION, 'l');

export async function insertLocation(tx: Tx, location: Location): Promise<void> {
  await insertRows(tx, LOCATION, [location]);
}

export async function findLocation(tx: Tx, address: LocationAddress): Promise<Location | undefined> {
  const [row] = await tx.query<Location>(
    `SELECT ${COLUMNS} FROM archivist.location l WHERE l.tenant_id = $1 AND l.location_id = $2`,
    [address.tenantId, address.locationId],
  );
  return row;
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
export async function updateLocation(
  tx: Tx,
  address: LocationAddress,
  change: LocationChange,
): Promise<Location | undefined> {
  const [row] = await tx.query<Location>(
    `UPDATE archivist.location l SET display_name = coalesce($3, l.display_name),
       description = coalesce($4, l.description), latitude = coalesce($5, l.latitude),
       longitude = coalesce($6, l.longitude), attributes = coalesce($7::text::jsonb, l.attributes)
      WHERE l.tenant_id = $1 AND l.location_id = $2 RETURNING ${COLUMNS}`,
    [
      address.tenantId,
      address.locationId,
      change.displayName ?? null,
      change.description ?? null,
      change.latitude ?? null,
      change.longitude ?? null,
      change.attributes === undefined ? null : JSON.stringify(change.attributes),
    ],
  );
  return row;
}

/** Deletes a location; false when it does not exist. */
export async function deleteLocationRow(tx: Tx, address: LocationAddress): Promise<boolean> {
  const deleted = await tx.execute('DELETE FROM archivist.location WHERE tenant_id = $1 AND location_id = $2', [
    address.tenantId,
    address.locationId,
  ]);
  return deleted > 0;
}

/** The subjects besides the Owners that may change the location; undefined when it does not exist. */
export async function permittedSubjects(tx: Tx, address: LocationAddress): Promise<string[] | undefined> {
  const [row] = await tx.query<{ subject_identities: string[] }>(
    'SELECT subject_identities FROM archivist.location WHERE tenant_id = $1 AND location_id = $2',
    [address.tenantId, address.locationId],
  );
  return row?.subject_identities;
}

/** False when the location does not exist. */
export async function setPermittedSubjects(
  tx: Tx,
  address: LocationAddress,
  subjectIdentities: readonly string[],
): Promise<boolean> {
  const changed = await tx.execute(
    'UPDATE archivist.location SET subject_identities = $3 WHERE tenant_id = $1 AND location_id = $2',
    [address.tenantId, address.locationId, subjectIdentities],
  );
  return changed > 0;
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
