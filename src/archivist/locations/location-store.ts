import { rowList } from '../../platform/listing/row-list-store.js';
import type { Tx } from '../../platform/postgres/database.js';
import type { Attributes } from '../attributes.js';
import type { Location } from './location.js';

interface LocationRow {
  tenant_id: string;
  location_id: string;
  display_name: string;
  description: string;
  latitude: number;
  longitude: number;
  attributes: Record<string, unknown>;
  created_at: Date;
}

export interface LocationAddress {
  readonly tenantId: string;
  readonly locationId: string;
}

const COLUMNS = `l.tenant_id, l.location_id, l.display_name, l.description, l.latitude, l.longitude, l.attributes,
  l.created_at`;

export async function insertLocation(tx: Tx, location: Location): Promise<void> {
  await tx.execute(
    `INSERT INTO archivist.location (tenant_id, location_id, display_name, description, latitude, longitude, attributes,
       created_at) VALUES ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8)`,
    [
      location.tenantId,
      location.locationId,
      location.displayName,
      location.description,
      location.latitude,
      location.longitude,
      JSON.stringify(location.attributes),
      location.createdAt,
    ],
  );
}

export async function findLocation(tx: Tx, address: LocationAddress): Promise<Location | undefined> {
  const [row] = await tx.query<LocationRow>(
    `SELECT ${COLUMNS} FROM archivist.location l WHERE l.tenant_id = $1 AND l.location_id = $2`,
    [address.tenantId, address.locationId],
  );
  return row && locationOf(row);
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
  const [row] = await tx.query<LocationRow>(
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
  return row && locationOf(row);
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
export const locationRows = rowList<LocationRow, Location>({
  from: 'archivist.location l',
  columns: COLUMNS,
  idColumn: 'l.location_id',
  idOf: ({ locationId }) => locationId,
  nameColumn: 'l.display_name',
  nameOf: (entry) => entry.displayName,
  entryOf: locationOf,
});

function locationOf(row: LocationRow): Location {
  return {
    tenantId: row.tenant_id,
    locationId: row.location_id,
    displayName: row.display_name,
    description: row.description,
    latitude: row.latitude,
    longitude: row.longitude,
    attributes: row.attributes,
    createdAt: row.created_at,
  };
}
