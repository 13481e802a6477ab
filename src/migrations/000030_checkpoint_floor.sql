-- With witnesses, the checkpoint that is shown is the newest cosigned one. What was shown before they were first asked may be
-- newer than that: followers would take the older one for a rollback, so it stays until a cosigned one has passed it. NULL
-- while no witnesses are asked.
ALTER TABLE archivist.log ADD COLUMN plain_checkpoint text;
