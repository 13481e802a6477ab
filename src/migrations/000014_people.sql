-- People: the OpenID provider of a tenancy, its members, their sessions in a browser, and invites that wait.

CREATE TABLE archivist.identity_provider (
  tenant_id uuid PRIMARY KEY REFERENCES archivist.tenancy,
  enabled boolean NOT NULL,
  issuer text NOT NULL,
  client_id text NOT NULL,
  -- Sealed under a key that lies in KEYS_DIR: the provider asks for the secret itself. Empty for a public client.
  client_secret_sealed text NOT NULL,
  audience text NOT NULL,
  -- The names under which the provider's tokens carry email, email_verified and display_name.
  claim_names jsonb NOT NULL
);
-- A token names its issuer and no tenancy.
CREATE INDEX identity_provider_by_issuer ON archivist.identity_provider (issuer);
SELECT archivist.isolate_by_tenancy('archivist.identity_provider', 'SELECT, INSERT, UPDATE, DELETE');

CREATE TABLE archivist.member (
  tenant_id uuid NOT NULL REFERENCES archivist.tenancy,
  member_id uuid NOT NULL,
  -- Who it is: as the provider calls him, for ever. The address may change.
  issuer text NOT NULL,
  subject text NOT NULL,
  display_name text NOT NULL,
  email text NOT NULL,
  roles text[] NOT NULL,
  active boolean NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, member_id)
);
CREATE UNIQUE INDEX member_by_principal ON archivist.member (tenant_id, issuer, subject);
CREATE INDEX member_across_tenancies ON archivist.member (issuer, subject);
SELECT archivist.isolate_by_tenancy('archivist.member', 'SELECT, INSERT, UPDATE');

CREATE TABLE archivist.member_session (
  tenant_id uuid NOT NULL,
  session_hash bytea NOT NULL,
  member_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, session_hash),
  FOREIGN KEY (tenant_id, member_id) REFERENCES archivist.member ON DELETE CASCADE
);
CREATE INDEX member_session_by_hash ON archivist.member_session (session_hash);
CREATE INDEX member_session_by_member ON archivist.member_session (tenant_id, member_id);
SELECT archivist.isolate_by_tenancy('archivist.member_session', 'SELECT, INSERT, DELETE');

CREATE TABLE archivist.invite (
  tenant_id uuid NOT NULL REFERENCES archivist.tenancy,
  invite_id uuid NOT NULL,
  email text NOT NULL,
  message text NOT NULL,
  -- Of the link in the e-mail, which alone has the token.
  token_hash bytea NOT NULL,
  expiry_time timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, invite_id)
);
CREATE INDEX invite_by_token ON archivist.invite (token_hash);
SELECT archivist.isolate_by_tenancy('archivist.invite', 'SELECT, INSERT, DELETE');
