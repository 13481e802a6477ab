-- Blobs: what is known of a file. Its bytes lie in the object store under blobs/<tenant_id>/<blob_id>, written before the
-- row; both are never changed, but for what a scan finds.

CREATE TABLE archivist.blob (
  tenant_id uuid NOT NULL,
  blob_id uuid NOT NULL,
  creator_issuer text NOT NULL,
  creator_subject text NOT NULL,
  mime_type text NOT NULL,
  size bigint NOT NULL,
  sha256 bytea NOT NULL,
  accepted_at timestamptz NOT NULL,
  scanned_status text NOT NULL DEFAULT 'NOT_SCANNED' CHECK (scanned_status IN ('NOT_SCANNED', 'SCANNED_OK', 'SCANNED_BAD')),
  scanned_at timestamptz,
  scanned_bad_reason text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, blob_id)
);
-- What the daily scan looks for.
CREATE INDEX blob_not_scanned ON archivist.blob (tenant_id, blob_id) WHERE scanned_status = 'NOT_SCANNED';
SELECT archivist.isolate_by_tenancy('archivist.blob', 'SELECT, INSERT, UPDATE');
