-- Assets and events. A public asset and its events have a second, frozen form under the public tenancy with blank
-- principals; origin_tenant_id is the creator's tenancy in both forms.
-- Generated columns are for the indexes: a text beyond 1,024 bytes is left out, for an index entry has a largest size.
-- Ids are UUIDv7: their order is the order of acceptance to the millisecond, and every list is a range of the primary key.

CREATE TABLE archivist.asset (
  tenant_id uuid NOT NULL,
  asset_id uuid NOT NULL,
  origin_tenant_id uuid NOT NULL,
  new_asset_event_id uuid NOT NULL,
  attributes jsonb NOT NULL,
  behaviours text[] NOT NULL,
  proof_mechanism text NOT NULL CHECK (proof_mechanism IN ('MERKLE_LOG', 'SIMPLE_HASH')),
  public boolean NOT NULL,
  tracked boolean NOT NULL DEFAULT true,
  owner text NOT NULL,
  creator_issuer text NOT NULL,
  creator_subject text NOT NULL,
  created_at timestamptz NOT NULL,
  subject text GENERATED ALWAYS AS (CASE WHEN octet_length(attributes ->> 'subject') <= 1024 THEN attributes ->> 'subject' END) STORED,
  display_type text GENERATED ALWAYS AS (CASE WHEN octet_length(attributes ->> 'arc_display_type') <= 1024 THEN attributes ->> 'arc_display_type' END) STORED,
  PRIMARY KEY (tenant_id, asset_id)
);
CREATE INDEX asset_by_subject ON archivist.asset (tenant_id, subject, asset_id) WHERE subject IS NOT NULL;
-- The stock conserver link looks its asset up by display type before every event.
CREATE INDEX asset_by_display_type ON archivist.asset (tenant_id, display_type, asset_id) WHERE display_type IS NOT NULL;
SELECT archivist.isolate_by_tenancy('archivist.asset', 'SELECT, INSERT, UPDATE');

-- Never updated, never deleted: the service's role cannot.
CREATE TABLE archivist.asset_event (
  tenant_id uuid NOT NULL,
  event_id uuid NOT NULL,
  asset_id uuid NOT NULL,
  origin_tenant_id uuid NOT NULL,
  operation text NOT NULL,
  behaviour text NOT NULL,
  event_attributes jsonb NOT NULL,
  asset_attributes jsonb NOT NULL,
  principal_declared jsonb NOT NULL,
  principal_accepted jsonb NOT NULL,
  -- Texts, because the leaf hashes them letter by letter.
  timestamp_declared text NOT NULL,
  timestamp_accepted text NOT NULL,
  accepted_at timestamptz NOT NULL,
  from_address text NOT NULL,
  subject text GENERATED ALWAYS AS (CASE WHEN octet_length(event_attributes ->> 'subject') <= 1024 THEN event_attributes ->> 'subject' END) STORED,
  display_type text GENERATED ALWAYS AS (CASE WHEN octet_length(event_attributes ->> 'arc_display_type') <= 1024 THEN event_attributes ->> 'arc_display_type' END) STORED,
  PRIMARY KEY (tenant_id, event_id)
);
CREATE INDEX asset_event_of_asset ON archivist.asset_event (tenant_id, asset_id, event_id);
CREATE INDEX asset_event_by_subject ON archivist.asset_event (tenant_id, subject, event_id) WHERE subject IS NOT NULL;
SELECT archivist.isolate_by_tenancy('archivist.asset_event', 'SELECT, INSERT');

CREATE TABLE archivist.asset_free_event (
  tenant_id uuid NOT NULL,
  event_id uuid NOT NULL,
  attributes jsonb NOT NULL,
  trails jsonb NOT NULL,
  event_type text NOT NULL DEFAULT '',
  creator_issuer text NOT NULL,
  created_by text NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (tenant_id, event_id)
);
SELECT archivist.isolate_by_tenancy('archivist.asset_free_event', 'SELECT, INSERT');
