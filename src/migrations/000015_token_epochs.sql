-- How often the tokens of a client were revoked; a missing row means never. A token carries the number that it was issued
-- under. Not part of the application: its tokens outlive it, and so must their revocation.
CREATE TABLE archivist.token_epoch (
  tenant_id uuid NOT NULL,
  client_id uuid NOT NULL,
  epoch bigint NOT NULL,
  PRIMARY KEY (tenant_id, client_id)
);
SELECT archivist.isolate_by_tenancy('archivist.token_epoch', 'SELECT, INSERT, UPDATE');
