-- Uploads under way: written before the first byte is stored, deleted with the row of the blob. What stays longer than any
-- upload takes was interrupted or refused, and its bytes are nobody's.

CREATE TABLE archivist.blob_upload (
  tenant_id uuid NOT NULL,
  blob_id uuid NOT NULL,
  begun_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, blob_id)
);
SELECT archivist.isolate_by_tenancy('archivist.blob_upload', 'SELECT, INSERT, UPDATE, DELETE');
