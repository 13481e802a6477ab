-- The security audit is passed over in no list of the other events.
CREATE INDEX CONCURRENTLY asset_free_event_listed
  ON archivist.asset_free_event (tenant_id, event_id) WHERE event_type <> 'arc_security_event';
