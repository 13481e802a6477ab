-- The audit compares functions and policies with those that the migrations of its own version make. It must see that a newer
-- version has migrated the database while it ran, as in a rolling restart.

GRANT SELECT ON archivist.schema_migration TO vcon_archivist_service;
