CREATE INDEX CONCURRENTLY asset_free_event_by_term
  ON archivist.asset_free_event USING gin (archivist.asset_free_event_terms(tenant_id, attributes, trails, event_type, created_by))
  WITH (gin_pending_list_limit = 256);

-- Statistics of hashes help no query and cost more than the inserts (000031).
ALTER INDEX archivist.asset_free_event_by_term ALTER COLUMN 1 SET STATISTICS 0;
