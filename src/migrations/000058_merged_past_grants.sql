-- What a policy showed to an organisation under a subject is one row for as long as it shows the same, not one for each
-- version of the policy. Of merged rows, the latest time counts for each asset: it includes what was shown before.
SELECT set_config('archivist.scope', 'system', true);

CREATE TEMPORARY TABLE merged ON COMMIT DROP AS
  SELECT g.tenant_id, g.grant_id, first_value(g.grant_id) OVER (
      PARTITION BY g.tenant_id, g.reader_tenant_id, g.policy_id, g.subject_id, g.permission -> 'asset_attributes_read',
        g.permission -> 'include_attributes', g.permission -> 'event_arc_display_type_read', g.permission -> 'behaviours'
      ORDER BY g.grant_id) AS kept
    FROM archivist.past_grant g;
DELETE FROM merged WHERE kept = grant_id;
INSERT INTO archivist.past_grant_asset (tenant_id, asset_id, grant_id, until)
  SELECT k.tenant_id, k.asset_id, m.kept, max(k.until)
    FROM merged m JOIN archivist.past_grant_asset k USING (tenant_id, grant_id) GROUP BY k.tenant_id, k.asset_id, m.kept
  ON CONFLICT (tenant_id, asset_id, grant_id) DO UPDATE SET until = greatest(past_grant_asset.until, excluded.until);
DELETE FROM archivist.past_grant g USING merged m WHERE g.tenant_id = m.tenant_id AND g.grant_id = m.grant_id;
DELETE FROM archivist.past_grant g WHERE NOT EXISTS
  (SELECT FROM archivist.past_grant_asset k WHERE k.tenant_id = g.tenant_id AND k.grant_id = g.grant_id);

-- SHA-256 of what it shows; of rows from before, and of those that a process of the version before still writes, any text.
ALTER TABLE archivist.past_grant ADD COLUMN digest text;
UPDATE archivist.past_grant SET digest = grant_id::text;
-- That process also writes the version and the position, which nothing reads any more.
ALTER TABLE archivist.past_grant ALTER COLUMN digest SET NOT NULL, ALTER COLUMN digest SET DEFAULT gen_random_uuid()::text,
  ALTER COLUMN version DROP NOT NULL, ALTER COLUMN position DROP NOT NULL;
ALTER TABLE archivist.past_grant
  ADD CONSTRAINT past_grant_once UNIQUE (tenant_id, reader_tenant_id, policy_id, subject_id, digest);

SELECT set_config('archivist.scope', '', true);
