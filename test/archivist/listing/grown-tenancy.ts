import type { TestDatabase } from '../../support/engines.js';

/** What a tenancy of `events` events is made of; the n-th event is accepted n seconds after `start`. */
export interface GrownTenancy {
  readonly tenantId: string;
  readonly events: number;
  readonly start: number;
}

/** Events and assets share their first five digits, so that events of one asset lie far apart. */
export const EVENTS_OF_AN_ASSET = 20;
/** The newest events: waiting, committed but not published, and published but not witnessed. */
export const WAITING = 5;
export const UNPUBLISHED = 20;
export const UNWITNESSED = 200;

const SECOND = 1000;

/** The time at which the n-th event was accepted. */
export function acceptedAt({ start }: GrownTenancy, number: number): string {
  return new Date(start + number * SECOND).toISOString();
}

/** The subject of the n-th event and of its asset. */
export function subjectOf({ events }: GrownTenancy, number: number): string {
  return `vcon://${number % (events / EVENTS_OF_AN_ASSET)}`;
}

/**
 * Fills a tenancy by SQL, as the service would have filled it: assets, events, the leaves of all but the newest, a log
 * with a published seal, and the intake of the rest. Every hundredth event is examined, every thousandth refused.
 */
export async function growTenancy(opened: TestDatabase, tenancy: GrownTenancy): Promise<void> {
  const { tenantId, events, start } = tenancy;
  const assets = events / EVENTS_OF_AN_ASSET;
  const uuid = (ms: string, number: string, kind: number) =>
    `(overlay(lpad(to_hex(${ms}), 12, '0') placing '-' from 9 for 0) || '-7000-8${kind}00-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
  const eventId = uuid(`($2::bigint + n * ${SECOND})`, 'n', 0);
  const assetId = (number: string) => uuid(`($2::bigint + (${number}) * ${SECOND})`, number, 1);
  const at = `(to_timestamp($2::bigint / 1000.0) + n * interval '1 second')`;
  const text = `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const principal = `jsonb_build_object('issuer', 'https://idp.example', 'subject', 'agent ' || n % 100, 'display_name', 'call ' || n, 'email', '')`;
  const run = (sql: string) => opened.asOwner(sql, [tenantId, start]);
  await run(`INSERT INTO archivist.asset (tenant_id, asset_id, origin_tenant_id, new_asset_event_id, attributes, behaviours,
      proof_mechanism, public, tracked, owner, creator_issuer, creator_subject, created_at)
    SELECT $1::uuid, ${assetId('n')}, $1::uuid, ${eventId},
      jsonb_build_object('subject', 'vcon://' || n, 'arc_display_type', CASE WHEN n % 100 = 7 THEN 'rare' ELSE 'vcon' END, 'colour', 'colour ' || n % 10),
      '{RecordEvidence}', CASE WHEN n % 100 = 3 THEN 'SIMPLE_HASH' ELSE 'MERKLE_LOG' END, n % 100 = 5, n % 100 <> 9, '0x00', 'https://idp.example', 'agent ' || n % 100, ${at}
      FROM generate_series(0, ${assets - 1}) AS n`);
  await run(`INSERT INTO archivist.asset_event (tenant_id, event_id, asset_id, origin_tenant_id, operation, behaviour,
      event_attributes, asset_attributes, principal_declared, principal_accepted, timestamp_declared, timestamp_accepted,
      accepted_at, from_address)
    SELECT $1::uuid, ${eventId}, ${assetId(`n % ${assets}`)}, $1::uuid, CASE WHEN n < ${assets} THEN 'NewAsset' ELSE 'Record' END,
      CASE WHEN n < ${assets} THEN 'AssetCreator' ELSE 'RecordEvidence' END,
      jsonb_build_object('subject', 'vcon://' || n % ${assets}, 'serial', 'serial ' || n, 'colour', 'colour ' || n % 10,
        'arc_display_type', CASE WHEN n % 1000 = 7 THEN 'refused' WHEN n % 100 = 7 THEN 'examined' ELSE 'operation' END)
        || CASE WHEN n = 0 THEN '{"first": "yes"}'::jsonb ELSE '{}' END,
      CASE WHEN n % 100 = 7 THEN jsonb_build_object('grade', 'grade ' || n % 1000) ELSE '{}'::jsonb END,
      ${principal}, ${principal}, ${text}, ${text}, ${at}, '0x00'
      FROM generate_series(0, ${events - 1}) AS n`);
  await run(`INSERT INTO archivist.leaf (tenant_id, log_id, leaf_index, entry_id, entry_kind, entry_tenant_id, idtimestamp, timestamp_committed)
    SELECT $1::uuid, $1::uuid, n, ${eventId}, 'asset_event', $1::uuid, int8send(n), ${text}
      FROM generate_series(0, ${events - WAITING - 1}) AS n`);
  await run(`INSERT INTO archivist.intake (tenant_id, log_id, entry_id, entry_kind, entry_tenant_id)
    SELECT $1::uuid, $1::uuid, ${eventId}, 'asset_event', $1::uuid FROM generate_series(${events - WAITING}, ${events - 1}) AS n`);
  await run(`INSERT INTO archivist.log (tenant_id, log_id, structure, name, massif_height, leaves, published_number, witnessed_leaves, created_at)
    SELECT $1::uuid, $1::uuid, 'MMR_SHA256', 'log', 14, ${events - WAITING}, 1, ${events - UNWITNESSED}, to_timestamp($2::bigint / 1000.0)`);
  await run(`INSERT INTO archivist.seal (tenant_id, log_id, seal_number, size, leaves, key_id, sealed_at_ms, root, signed)
    SELECT $1::uuid, $1::uuid, 1, 1, ${events - UNPUBLISHED}, 'key', $2::bigint, '', ''`);
  await run(`INSERT INTO archivist.simple_hash_event (tenant_id, event_id, accepted_at)
    SELECT e.tenant_id, e.event_id, e.accepted_at FROM archivist.asset_event e JOIN archivist.asset a USING (tenant_id, asset_id)
     WHERE e.tenant_id = $1::uuid AND a.proof_mechanism = 'SIMPLE_HASH' AND $2::bigint > 0`);
  for (const table of ['asset', 'asset_event', 'leaf', 'intake', 'log', 'seal', 'simple_hash_event'])
    await opened.asOwner(`ANALYZE archivist.${table}`);
}
