-- Logs, and what waits for them. tenant_id is the tenancy that owns the log: its own for a tenancy log, the public one
-- for the public logs, the deployment's for the private statement log.

CREATE TABLE archivist.log (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  structure text NOT NULL CHECK (structure IN ('MMR_SHA256', 'RFC9162_SHA256')),
  -- The subject of every receipt of this log; never changes.
  name text NOT NULL,
  massif_height smallint NOT NULL,
  size bigint NOT NULL DEFAULT 0,
  leaves bigint NOT NULL DEFAULT 0,
  last_idtimestamp bytea NOT NULL DEFAULT '\x0000000000000000',
  lease_holder text,
  lease_epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz,
  seal_number bigint NOT NULL DEFAULT 0,
  sealed_size bigint NOT NULL DEFAULT 0,
  published_number bigint NOT NULL DEFAULT 0,
  published_size bigint NOT NULL DEFAULT 0,
  -- Why the log was stopped; only an operator clears it.
  halted text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, log_id)
);
SELECT archivist.isolate_by_tenancy('archivist.log', 'SELECT, INSERT, UPDATE');

-- An accepted entry that a log has not committed yet. Rows, not marks: a late commit is found however late it is.
CREATE TABLE archivist.intake (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  entry_kind text NOT NULL CHECK (entry_kind IN ('asset_event', 'asset_free_event', 'statement')),
  -- The tenancy whose row the entry is.
  entry_tenant_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, log_id, entry_id)
) WITH (
  -- Rows come and go at one end of the index: left to a share of the table, the dead ones would slow every look for the oldest.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000
);
SELECT archivist.isolate_by_tenancy('archivist.intake', 'SELECT, INSERT, DELETE');

-- First bytes win: a signature is random, and the log commits to these.
CREATE TABLE archivist.statement (
  tenant_id uuid NOT NULL,
  event_id uuid NOT NULL,
  entry bytea NOT NULL,
  PRIMARY KEY (tenant_id, event_id)
);
SELECT archivist.isolate_by_tenancy('archivist.statement', 'SELECT, INSERT');

CREATE TABLE archivist.leaf (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  leaf_index bigint NOT NULL,
  entry_id uuid NOT NULL,
  entry_kind text NOT NULL,
  entry_tenant_id uuid NOT NULL,
  idtimestamp bytea NOT NULL,
  timestamp_committed text NOT NULL,
  -- MMR logs only: what the massif's trie holds for this leaf. NULL extra bytes are 24 zero bytes.
  trie_key bytea,
  extra_bytes bytea,
  PRIMARY KEY (tenant_id, log_id, leaf_index),
  UNIQUE (tenant_id, log_id, entry_id)
);
SELECT archivist.isolate_by_tenancy('archivist.leaf', 'SELECT, INSERT');

-- 32 nodes of 32 bytes in post order; only the last page of a log is ever rewritten.
CREATE TABLE archivist.node_page (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  page bigint NOT NULL,
  nodes bytea NOT NULL,
  PRIMARY KEY (tenant_id, log_id, page)
);
ALTER TABLE archivist.node_page ALTER COLUMN nodes SET STORAGE PLAIN;
SELECT archivist.isolate_by_tenancy('archivist.node_page', 'SELECT, INSERT, UPDATE');

-- A signature over an MMR peak, made once and used by every seal in which the peak stands.
CREATE TABLE archivist.peak_receipt (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  node_index bigint NOT NULL,
  key_id text NOT NULL,
  receipt bytea NOT NULL,
  PRIMARY KEY (tenant_id, log_id, node_index, key_id)
);
SELECT archivist.isolate_by_tenancy('archivist.peak_receipt', 'SELECT, INSERT');

CREATE TABLE archivist.seal (
  tenant_id uuid NOT NULL,
  log_id uuid NOT NULL,
  seal_number bigint NOT NULL,
  size bigint NOT NULL,
  leaves bigint NOT NULL,
  key_id text NOT NULL,
  sealed_at_ms bigint NOT NULL,
  -- MMR: the peaks bagged to one root (confirm.root). RFC 9162: the tree's root.
  root bytea NOT NULL,
  -- MMR: the seal file. RFC 9162: the receipt over the root, still without its proof.
  signed bytea NOT NULL,
  PRIMARY KEY (tenant_id, log_id, seal_number),
  -- The first seal that covers an entry is found by its leaf index.
  UNIQUE (tenant_id, log_id, leaves)
);
SELECT archivist.isolate_by_tenancy('archivist.seal', 'SELECT, INSERT');
