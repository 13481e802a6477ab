-- The payload-hash profile: a log of its own, made when the profile is first switched on, and what was registered into it.

CREATE TABLE archivist.payload_hash_log (
  tenant_id uuid PRIMARY KEY,
  log_id uuid NOT NULL
);
SELECT archivist.isolate_by_tenancy('archivist.payload_hash_log', 'SELECT, INSERT');

CREATE TABLE archivist.payload_hash_registration (
  tenant_id uuid NOT NULL,
  -- SHA-256 of the statement without what is unprotected.
  statement_hash bytea NOT NULL,
  entry_id uuid NOT NULL,
  -- Byte for byte as it came; it may hold telephone numbers and is never served.
  submitted bytea NOT NULL,
  registered_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, statement_hash),
  UNIQUE (tenant_id, entry_id)
);
SELECT archivist.isolate_by_tenancy('archivist.payload_hash_registration', 'SELECT, INSERT');
