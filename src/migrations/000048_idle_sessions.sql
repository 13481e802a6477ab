-- A session ends when it was not used for a while, however long it would last. Use is recorded once a minute at most.
ALTER TABLE archivist.member_session ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
GRANT UPDATE (used_at) ON archivist.member_session TO vcon_archivist_service;
