-- Access policies, and who is named by them.

CREATE TABLE archivist.access_policy (
  tenant_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  -- Counts the policy's changes, from 1.
  version bigint NOT NULL,
  display_name text NOT NULL,
  description text NOT NULL,
  filters jsonb NOT NULL,
  access_permissions jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, policy_id)
);
SELECT archivist.isolate_by_tenancy('archivist.access_policy', 'SELECT, INSERT, UPDATE, DELETE');

-- Each request reads only the policies that name its caller, as they are at that moment: nothing is remembered between
-- requests, so a change counts at once in every process.
CREATE TABLE archivist.access_policy_principal (
  tenant_id uuid NOT NULL,
  principal text NOT NULL,
  policy_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, principal, policy_id),
  FOREIGN KEY (tenant_id, policy_id) REFERENCES archivist.access_policy ON DELETE CASCADE
);
CREATE INDEX access_policy_principal_of_policy ON archivist.access_policy_principal (tenant_id, policy_id);
SELECT archivist.isolate_by_tenancy('archivist.access_policy_principal', 'SELECT, INSERT, DELETE');

-- Audit events that are still to be recorded on the assets that a policy matches, one row for each version. What is
-- recorded and how far it has come are written together; the row goes with the last event.
CREATE TABLE archivist.access_policy_audit (
  tenant_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  version bigint NOT NULL,
  filters jsonb NOT NULL,
  event_attributes jsonb NOT NULL,
  -- Assets up to this one have their event.
  after_asset uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, policy_id, version)
);
SELECT archivist.isolate_by_tenancy('archivist.access_policy_audit', 'SELECT, INSERT, UPDATE, DELETE');
