-- Registered statements, and by what their signers are known. A public registration belongs to the public tenancy, like the
-- public form of its event: whoever registers the same statement again meets the first one.

-- What an entry was registered under, kept once for all entries with the same rules; named by the SHA-256 of its text.
CREATE TABLE archivist.registration_policy (
  tenant_id uuid NOT NULL,
  digest bytea NOT NULL,
  policy text NOT NULL,
  PRIMARY KEY (tenant_id, digest)
);
SELECT archivist.isolate_by_tenancy('archivist.registration_policy', 'SELECT, INSERT');

-- Deleted only in the transaction that wrote it, when a quota then refuses the event.
CREATE TABLE archivist.registration (
  tenant_id uuid NOT NULL,
  -- SHA-256 of what the statement log commits to: two statements that differ in unprotected headers alone are one.
  statement_hash bytea NOT NULL,
  event_id uuid NOT NULL,
  asset_id uuid NOT NULL,
  -- Byte for byte as it came.
  submitted bytea NOT NULL,
  creator_issuer text NOT NULL,
  creator_subject text NOT NULL,
  policy_digest bytea NOT NULL,
  -- How the signer's key was found, and its thumbprint.
  key_resolution jsonb NOT NULL,
  registered_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, statement_hash),
  UNIQUE (tenant_id, event_id)
);
SELECT archivist.isolate_by_tenancy('archivist.registration', 'SELECT, INSERT, DELETE');

-- The one asset of a tenancy under which its registered statements are events; one more for public ones.
CREATE TABLE archivist.statement_asset (
  tenant_id uuid NOT NULL,
  public boolean NOT NULL,
  asset_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, public)
);
SELECT archivist.isolate_by_tenancy('archivist.statement_asset', 'SELECT, INSERT');

-- What an Owner has changed of the registration policy; no row, no change.
CREATE TABLE archivist.registration_settings (
  tenant_id uuid PRIMARY KEY,
  self_asserted boolean NOT NULL
);
SELECT archivist.isolate_by_tenancy('archivist.registration_settings', 'SELECT, INSERT, UPDATE');

-- A key of a registered issuer, or a certificate authority.
CREATE TABLE archivist.trust_anchor (
  tenant_id uuid NOT NULL,
  anchor_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('issuer_key', 'certificate_authority')),
  display_name text NOT NULL,
  -- Claim 1 of the statements that the key may sign; empty for an authority, whose certificates name their holders.
  issuer text NOT NULL,
  -- The kid that statements name the key by; empty when only its thumbprint does.
  kid bytea NOT NULL,
  thumbprint bytea NOT NULL,
  -- The public key as a JWK, or the certificate as PEM.
  material text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, anchor_id),
  UNIQUE (tenant_id, kind, issuer, thumbprint)
);
SELECT archivist.isolate_by_tenancy('archivist.trust_anchor', 'SELECT, INSERT, DELETE');
