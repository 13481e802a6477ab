-- Cosignatures of witnesses that were added, or did not answer, after a quorum had cosigned a checkpoint.
GRANT UPDATE (note) ON archivist.cosigned_checkpoint TO vcon_archivist_service;
