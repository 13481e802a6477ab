-- Certification authorities whose client certificates speak for a tenancy.
CREATE TABLE archivist.tls_ca_certificate (
  tenant_id uuid NOT NULL,
  certificate_id uuid NOT NULL,
  display_name text NOT NULL,
  -- As it was sent.
  pem text NOT NULL,
  -- SHA-256 of the subject's name: a client certificate says by it who issued it, and not for which tenancy.
  subject_hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, certificate_id)
);
CREATE INDEX tls_ca_certificate_by_subject ON archivist.tls_ca_certificate (subject_hash);
SELECT archivist.isolate_by_tenancy('archivist.tls_ca_certificate', 'SELECT, INSERT, UPDATE, DELETE');
