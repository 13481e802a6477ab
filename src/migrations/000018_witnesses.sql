-- Witnesses of the public statement log, and through it of every MMR log: its newest seal is an entry there.

CREATE TABLE archivist.registered_seal (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  seal_number bigint NOT NULL,
  leaves bigint NOT NULL,
  -- In the public statement log.
  entry_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, log_id, seal_number)
);
SELECT archivist.isolate_by_tenancy('archivist.registered_seal', 'SELECT, INSERT');

-- The size that each witness has last cosigned: what the next proof has to start from.
CREATE TABLE archivist.witness_size (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  witness text NOT NULL,
  size bigint NOT NULL,
  PRIMARY KEY (tenant_id, log_id, witness)
);
SELECT archivist.isolate_by_tenancy('archivist.witness_size', 'SELECT, INSERT, UPDATE');

-- Checkpoints that a quorum has cosigned; the newest is the one that is served.
CREATE TABLE archivist.cosigned_checkpoint (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  size bigint NOT NULL,
  note text NOT NULL,
  PRIMARY KEY (tenant_id, log_id, size)
);
SELECT archivist.isolate_by_tenancy('archivist.cosigned_checkpoint', 'SELECT, INSERT');

-- Leaves under the newest seal that lies below a cosigned checkpoint.
ALTER TABLE archivist.log ADD COLUMN witnessed_leaves bigint NOT NULL DEFAULT 0;
