-- Who has no role sees the assets that it created, and what policies give: found by this index where it created few of
-- many. An asset is written once for a conversation, so the index costs each of its events nothing.
CREATE INDEX asset_by_creator ON archivist.asset (tenant_id, creator_subject, asset_id);
