-- Anchors of SIMPLE_HASH events, and the chain of blocks that anchors and seals are written into.

-- Every event of a SIMPLE_HASH asset, and the anchor that covers it. Written with the event: rows, not marks.
CREATE TABLE archivist.simple_hash_event (
  tenant_id uuid NOT NULL,
  event_id uuid NOT NULL,
  accepted_at timestamptz NOT NULL,
  anchor_number bigint,
  PRIMARY KEY (tenant_id, event_id)
);
CREATE INDEX simple_hash_event_waiting ON archivist.simple_hash_event (tenant_id, accepted_at) WHERE anchor_number IS NULL;
SELECT archivist.isolate_by_tenancy('archivist.simple_hash_event', 'SELECT, INSERT, UPDATE');

-- How far the windows of a tenancy have come. No event is accepted before closed_until any more: an accept holds the row
-- shared until its commit, and closing a window updates it. Between the two times lies the window that waits for its anchor.
CREATE TABLE archivist.anchor_window (
  tenant_id uuid NOT NULL,
  anchored_until timestamptz NOT NULL DEFAULT '1970-01-01T00:00:00Z',
  closed_until timestamptz NOT NULL DEFAULT '1970-01-01T00:00:00Z',
  anchors bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id)
);
SELECT archivist.isolate_by_tenancy('archivist.anchor_window', 'SELECT, INSERT, UPDATE');

CREATE TABLE archivist.anchor (
  tenant_id uuid NOT NULL,
  anchor_number bigint NOT NULL,
  start_time timestamptz NOT NULL,
  end_time timestamptz NOT NULL,
  hash_schema_version smallint NOT NULL,
  anchor_hash bytea NOT NULL,
  event_count bigint NOT NULL,
  PRIMARY KEY (tenant_id, anchor_number)
);
SELECT archivist.isolate_by_tenancy('archivist.anchor', 'SELECT, INSERT');

-- The deployment's one chain, under the deployment's tenancy. The primary key is what keeps it from forking: of two blocks
-- upon the same parent one has its number first.
CREATE TABLE archivist.chain_block (
  tenant_id uuid NOT NULL,
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  -- What is hashed: RLP of the header's fifteen fields.
  header bytea NOT NULL,
  -- Of the next transaction: one count for the whole chain, whichever key signs.
  next_nonce bigint NOT NULL,
  PRIMARY KEY (tenant_id, block_number),
  UNIQUE (tenant_id, block_hash)
);
SELECT archivist.isolate_by_tenancy('archivist.chain_block', 'SELECT, INSERT');

-- Under the tenancy whose anchor or seal it carries; number is the anchor's, or the seal's in the tenancy log.
CREATE TABLE archivist.chain_transaction (
  tenant_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('SIMPLE_HASH', 'MERKLE_LOG')),
  number bigint NOT NULL,
  transaction_hash bytea NOT NULL,
  block_number bigint NOT NULL,
  transaction_index integer NOT NULL,
  sender text NOT NULL,
  -- RLP of the signed transaction.
  signed bytea NOT NULL,
  PRIMARY KEY (tenant_id, kind, number),
  UNIQUE (tenant_id, transaction_hash)
);
SELECT archivist.isolate_by_tenancy('archivist.chain_transaction', 'SELECT, INSERT');

-- Events that are there already, of every tenancy, whoever migrates.
SELECT set_config('archivist.scope', 'system', true);
INSERT INTO archivist.simple_hash_event (tenant_id, event_id, accepted_at)
  SELECT e.tenant_id, e.event_id, e.accepted_at FROM archivist.asset_event e
    JOIN archivist.asset a ON a.tenant_id = e.tenant_id AND a.asset_id = e.asset_id AND a.proof_mechanism = 'SIMPLE_HASH';
INSERT INTO archivist.anchor_window (tenant_id)
  SELECT DISTINCT tenant_id FROM archivist.simple_hash_event;
SELECT set_config('archivist.scope', '', true);
