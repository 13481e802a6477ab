-- Signed lists of the deployment's keys, and the log that they are entries of. The rows of signing_key are a copy of the newest
-- list: what stands there and not in it counts for nothing.

ALTER TABLE archivist.deployment ADD COLUMN keys_log uuid;
UPDATE archivist.deployment SET keys_log = gen_random_uuid();
ALTER TABLE archivist.deployment ALTER COLUMN keys_log SET NOT NULL;

SELECT set_config('archivist.scope', 'system', true);
INSERT INTO archivist.log (tenant_id, log_id, structure, name, massif_height, created_at)
SELECT d.deployment_tenancy, d.keys_log, 'RFC9162_SHA256', 'log/' || d.keys_log, l.massif_height, now()
  FROM archivist.deployment d
  JOIN archivist.log l ON l.tenant_id = d.deployment_tenancy AND l.log_id = d.private_statement_log;
SELECT set_config('archivist.scope', '', true);

-- tenant_id is the deployment's own tenancy.
CREATE TABLE archivist.key_manifest (
  tenant_id uuid NOT NULL,
  number bigint NOT NULL CHECK (number > 0),
  -- In the keys log.
  entry_id uuid NOT NULL,
  manifest bytea NOT NULL,
  PRIMARY KEY (tenant_id, number)
);
SELECT archivist.isolate_by_tenancy('archivist.key_manifest', 'SELECT, INSERT');

-- Processes that sign or check with these keys, and the manifest that each has adopted: a new key signs only when all have it.
CREATE TABLE archivist.key_follower (
  tenant_id uuid NOT NULL,
  process_id uuid NOT NULL,
  number bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, process_id)
);
SELECT archivist.isolate_by_tenancy('archivist.key_follower', 'SELECT, INSERT, UPDATE, DELETE');

ALTER TABLE archivist.signing_key DROP CONSTRAINT signing_key_state_check;
ALTER TABLE archivist.signing_key ADD CONSTRAINT signing_key_state_check
  CHECK (state IN ('pending', 'active', 'retired', 'revoked'));
-- The issuer key's word for a key of a tenancy; NULL for keys that a manifest lists.
ALTER TABLE archivist.signing_key ADD COLUMN certificate bytea;
