-- What the write path pays for beside its rows. A sample of 30,000 rows was taken at every tenth by which a table grew, and
-- the terms of each were computed and counted for it: measured, more processor time than the inserts themselves. Nothing
-- asks for these statistics: the searches by terms have one plan, and no other condition is on documents.

ALTER INDEX archivist.asset_by_term ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX archivist.asset_event_by_term ALTER COLUMN 1 SET STATISTICS 0;
ALTER TABLE archivist.asset_event
  ALTER COLUMN event_attributes SET STATISTICS 0, ALTER COLUMN asset_attributes SET STATISTICS 0,
  ALTER COLUMN principal_declared SET STATISTICS 0, ALTER COLUMN principal_accepted SET STATISTICS 0;
