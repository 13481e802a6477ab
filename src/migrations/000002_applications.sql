-- Machine identities and what makes a request with side effects safe to send twice.

CREATE TABLE archivist.application (
  tenant_id uuid NOT NULL REFERENCES archivist.tenancy,
  application_id uuid NOT NULL,
  display_name text NOT NULL,
  custom_claims jsonb NOT NULL DEFAULT '{}',
  roles text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, application_id)
);
-- A token request names an application and no tenancy.
CREATE UNIQUE INDEX application_by_id ON archivist.application (application_id);
SELECT archivist.isolate_by_tenancy('archivist.application', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE archivist.application_credential (
  tenant_id uuid NOT NULL,
  application_id uuid NOT NULL,
  credential_id uuid NOT NULL,
  secret_hmac bytea NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_until timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, application_id, credential_id),
  FOREIGN KEY (tenant_id, application_id) REFERENCES archivist.application ON DELETE CASCADE
);
SELECT archivist.isolate_by_tenancy('archivist.application_credential', 'SELECT, INSERT, DELETE');

-- scope: SHA-256 over principal, method, path and key. Written in the transaction of what it points to.
CREATE TABLE archivist.idempotency (
  tenant_id uuid NOT NULL,
  scope bytea NOT NULL,
  body_hash bytea NOT NULL,
  resource text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, scope)
);
CREATE INDEX idempotency_age ON archivist.idempotency (tenant_id, created_at);
SELECT archivist.isolate_by_tenancy('archivist.idempotency', 'SELECT, INSERT, DELETE');
