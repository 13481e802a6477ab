CREATE INDEX CONCURRENTLY asset_event_out_of_step
  ON archivist.asset_event (tenant_id, event_id) WHERE archivist.out_of_step(event_id, accepted_at);
