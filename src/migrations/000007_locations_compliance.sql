-- Locations, compliance policies, and how much of its quotas a tenancy has used.

CREATE TABLE archivist.compliance_policy (
  tenant_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  -- As it was sent, every field filled in. Policies are few, and always read together.
  policy jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, policy_id)
);
SELECT archivist.isolate_by_tenancy('archivist.compliance_policy', 'SELECT, INSERT, DELETE');

CREATE TABLE archivist.location (
  tenant_id uuid NOT NULL,
  location_id uuid NOT NULL,
  display_name text NOT NULL,
  description text NOT NULL,
  latitude double precision NOT NULL,
  longitude double precision NOT NULL,
  attributes jsonb NOT NULL,
  -- Who else may change it (interface: Location permissions).
  subject_identities text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, location_id)
);
CREATE INDEX location_by_display_name ON archivist.location (tenant_id, display_name, location_id);
SELECT archivist.isolate_by_tenancy('archivist.location', 'SELECT, INSERT, UPDATE, DELETE');

-- Only for resources that are never deleted and that a quota limits: begun by counting once, then kept up in the
-- transaction of what is counted.
CREATE TABLE archivist.tenancy_usage (
  tenant_id uuid NOT NULL,
  resource text NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (tenant_id, resource)
);
SELECT archivist.isolate_by_tenancy('archivist.tenancy_usage', 'SELECT, INSERT, UPDATE, DELETE');
