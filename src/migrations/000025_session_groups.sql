-- A session has the groups that the provider told of when it was opened.
ALTER TABLE archivist.member_session ADD COLUMN groups text[] NOT NULL DEFAULT '{}';
