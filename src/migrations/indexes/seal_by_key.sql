-- The first seal over an entry by a key that was not revoked.
CREATE INDEX CONCURRENTLY seal_by_key ON archivist.seal (tenant_id, log_id, key_id, leaves);
