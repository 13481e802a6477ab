-- What ended shares keep showing: events accepted until then, and attributes as of then.

-- One permission of one version of a policy, as another tenancy had it. Without a reference to the policy, because the
-- policy may be deleted.
CREATE TABLE archivist.past_grant (
  tenant_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  reader_tenant_id uuid NOT NULL,
  -- The subject that named the other tenancy in the policy.
  subject_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  version bigint NOT NULL,
  -- Of the permission in its policy, from 0.
  position integer NOT NULL,
  permission jsonb NOT NULL,
  PRIMARY KEY (tenant_id, grant_id),
  UNIQUE (tenant_id, policy_id, version, position, subject_id, reader_tenant_id)
);
CREATE INDEX past_grant_by_reader ON archivist.past_grant (reader_tenant_id, tenant_id);
SELECT archivist.isolate_by_tenancy('archivist.past_grant', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE archivist.past_grant_asset (
  tenant_id uuid NOT NULL,
  asset_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  -- The last instant at which the grant showed the asset.
  until timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, asset_id, grant_id),
  FOREIGN KEY (tenant_id, grant_id) REFERENCES archivist.past_grant ON DELETE CASCADE
);
CREATE INDEX past_grant_asset_of_grant ON archivist.past_grant_asset (tenant_id, grant_id, asset_id);
SELECT archivist.isolate_by_tenancy('archivist.past_grant_asset', 'SELECT, INSERT, UPDATE, DELETE');

-- The enabled tenancies that still show something to `mine` by an ended share. It looks across tenancies, and answers
-- only for a tenancy that the transaction may read.
CREATE FUNCTION archivist.past_sharers(mine uuid) RETURNS SETOF uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
  scope text := coalesce(current_setting('archivist.scope', true), '');
BEGIN
  -- A SET clause would be simpler, but only a superuser may make a function with one for a setting of ours.
  PERFORM set_config('archivist.scope', 'system', true);
  RETURN QUERY
    SELECT other.tenant_id FROM archivist.tenancy other
     WHERE other.disabled_at IS NULL AND mine = ANY (archivist.readable_tenancies())
       AND other.tenant_id IN (SELECT g.tenant_id FROM archivist.past_grant g WHERE g.reader_tenant_id = mine);
  PERFORM set_config('archivist.scope', scope, true);
END $$;

-- An asset's attributes after the events accepted until then; empty before its first event and for an unknown time.
CREATE FUNCTION archivist.attributes_at(tenant uuid, asset uuid, until timestamptz) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(jsonb_object_agg(last.key, last.value), '{}') FROM
    (SELECT DISTINCT ON (c.key) c.key, c.value
       FROM archivist.asset_event e, jsonb_each(e.asset_attributes) c
      WHERE e.tenant_id = tenant AND e.asset_id = asset AND e.accepted_at <= until
      ORDER BY c.key, e.event_id DESC) last
$$;

-- Whether an asset was tracked after the events accepted until then.
CREATE FUNCTION archivist.tracked_at(tenant uuid, asset uuid, until timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT e.operation = 'StartTracking' FROM archivist.asset_event e
    WHERE e.tenant_id = tenant AND e.asset_id = asset AND e.accepted_at <= until
      AND e.operation IN ('StartTracking', 'StopTracking')
    ORDER BY e.event_id DESC LIMIT 1), true)
$$;
