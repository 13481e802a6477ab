-- A tenancy's security audit is a few among its asset-free events: they are listed over time without reading the others.
CREATE INDEX asset_free_event_security ON archivist.asset_free_event (tenant_id, event_id)
  WHERE event_type = 'arc_security_event';
