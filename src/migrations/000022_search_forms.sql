-- What a search of asset-free events starts from, beside trails. The write path of asset events pays for none of it.
-- Generated columns, because an index entry has a largest size: a longer text is left out and never searched by index.

ALTER TABLE archivist.asset_free_event
  ADD COLUMN searched_type text GENERATED ALWAYS AS (CASE WHEN octet_length(event_type) <= 1024 THEN event_type END) STORED,
  ADD COLUMN searched_creator text GENERATED ALWAYS AS (CASE WHEN octet_length(created_by) <= 1024 THEN created_by END) STORED;
CREATE INDEX asset_free_event_by_type ON archivist.asset_free_event (tenant_id, searched_type, event_id) WHERE searched_type IS NOT NULL;
CREATE INDEX asset_free_event_by_creator ON archivist.asset_free_event (tenant_id, searched_creator, event_id) WHERE searched_creator IS NOT NULL;
CREATE INDEX asset_free_event_by_creation ON archivist.asset_free_event (tenant_id, created_at_ms, event_id);
CREATE INDEX leaf_of_asset_free_event ON archivist.leaf (tenant_id, log_id, idtimestamp) WHERE entry_kind = 'asset_free_event';
