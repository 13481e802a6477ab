-- Every process looks for halted logs once a second.
CREATE INDEX log_halted ON archivist.log (log_id) WHERE halted IS NOT NULL;
