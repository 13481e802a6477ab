-- The service's role, the tenancy scope of a transaction, and tenancies.
-- Every table with a tenant_id is closed by row-level security: a transaction sees the tenancies named in
-- archivist.readable and writes those in archivist.writable; an empty or missing setting means none.

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vcon_archivist_service') THEN
    CREATE ROLE vcon_archivist_service NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- another database of the same cluster made it at this moment
END $$;

DO $$
BEGIN
  EXECUTE format('GRANT vcon_archivist_service TO %I', current_user);
EXCEPTION WHEN unique_violation THEN
  NULL;
END $$;

GRANT USAGE ON SCHEMA archivist TO vcon_archivist_service;

CREATE FUNCTION archivist.readable_tenancies() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE AS
  $$ SELECT coalesce(nullif(current_setting('archivist.readable', true), '')::uuid[], '{}') $$;

CREATE FUNCTION archivist.writable_tenancies() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE AS
  $$ SELECT coalesce(nullif(current_setting('archivist.writable', true), '')::uuid[], '{}') $$;

-- The ledger and the look-up of a token's application work across tenancies.
CREATE FUNCTION archivist.system_scope() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS
  $$ SELECT coalesce(current_setting('archivist.scope', true), '') = 'system' $$;

-- One rule for every table, so that no table can have another one by oversight.
CREATE FUNCTION archivist.isolate_by_tenancy(isolated regclass, granted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', isolated);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', isolated);
  EXECUTE format(
    'CREATE POLICY readable ON %s FOR SELECT USING (tenant_id = ANY ((SELECT archivist.readable_tenancies())::uuid[]) OR (SELECT archivist.system_scope()))',
    isolated);
  EXECUTE format(
    'CREATE POLICY writable ON %s FOR ALL USING (tenant_id = ANY ((SELECT archivist.writable_tenancies())::uuid[]) OR (SELECT archivist.system_scope())) WITH CHECK (tenant_id = ANY ((SELECT archivist.writable_tenancies())::uuid[]) OR (SELECT archivist.system_scope()))',
    isolated);
  EXECUTE format('GRANT %s ON %s TO vcon_archivist_service', granted, isolated);
END $$;

-- One row. Columns that name a tenancy are not called tenant_id: this table belongs to the deployment.
CREATE TABLE archivist.deployment (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  deployment_tenancy uuid NOT NULL,
  public_tenancy uuid NOT NULL,
  public_statement_log uuid NOT NULL,
  private_statement_log uuid NOT NULL,
  created_at timestamptz NOT NULL
);
GRANT SELECT, INSERT ON archivist.deployment TO vcon_archivist_service;

CREATE TABLE archivist.tenancy (
  tenant_id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('organisation', 'public', 'deployment')),
  display_name text NOT NULL,
  verified_domain text NOT NULL DEFAULT '',
  wallet_address text NOT NULL,
  created_at timestamptz NOT NULL
);
SELECT archivist.isolate_by_tenancy('archivist.tenancy', 'SELECT, INSERT, UPDATE');

-- Public halves and states; private halves live in KEYS_DIR. Keys of the service itself belong to the deployment's tenancy.
CREATE TABLE archivist.signing_key (
  tenant_id uuid NOT NULL,
  key_id text NOT NULL,
  role text NOT NULL,
  algorithm text NOT NULL,
  public_jwk jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'retired')),
  valid_from timestamptz NOT NULL,
  valid_until timestamptz,
  PRIMARY KEY (tenant_id, key_id)
);
CREATE UNIQUE INDEX signing_key_active ON archivist.signing_key (tenant_id, role) WHERE state = 'active';
SELECT archivist.isolate_by_tenancy('archivist.signing_key', 'SELECT, INSERT, UPDATE');
