-- Who brought a private statement that another identity of the tenancy had registered before: they may read the
-- registration as its first registrant may.
CREATE TABLE archivist.registrant (
  tenant_id uuid NOT NULL,
  event_id uuid NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  PRIMARY KEY (tenant_id, event_id, issuer, subject)
);
SELECT archivist.isolate_by_tenancy('archivist.registrant', 'SELECT, INSERT');
