-- Open forks of a log, oldest first: [{generation, seal_number, leaves, entry_id}]. Seals after seal_number are of that
-- generation and carry its name; the leaf with the index `leaves` is the fork statement, the entry with this id.
ALTER TABLE archivist.log ADD COLUMN forks jsonb NOT NULL DEFAULT '[]';
