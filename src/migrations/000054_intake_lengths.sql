-- About how long an entry is, in bytes: a sequencer ends a batch by it before it reads the entries themselves. 0 in rows of earlier versions.
ALTER TABLE archivist.intake ADD COLUMN entry_length integer NOT NULL DEFAULT 0;
