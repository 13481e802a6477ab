-- A term is a hash of 64 bits without a secret: a tenancy can store texts that have the terms of another one's. Rows of
-- others took places in pages and totals: a page could be empty although the tenancy has rows for it, and a total told of
-- the rows of others. Now the tenancy's own rows are taken first. OFFSET 0, because the index of terms must answer: a
-- condition on the tenancy would let the planner read its whole key.

DO $do$
DECLARE
  searched record;
BEGIN
  FOR searched IN VALUES
    ('asset', 'asset_id', 'archivist.asset_terms(tenant_id, attributes, tracked)'),
    ('asset_event', 'event_id', 'archivist.asset_event_terms(tenant_id, event_attributes, asset_attributes,
      principal_declared, principal_accepted, operation, behaviour, from_address)'),
    ('asset_free_event', 'event_id', 'archivist.asset_free_event_terms(tenant_id, attributes, trails, event_type, created_by)')
  LOOP
    EXECUTE format($create$
      CREATE OR REPLACE FUNCTION archivist.find_%1$ss(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)
        RETURNS uuid[] LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
        SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
      DECLARE
        terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
        found uuid[];
      BEGIN
        found := ARRAY(SELECT h.%2$s FROM (SELECT tenant_id, %2$s FROM archivist.%1$s WHERE %3$s @> terms OFFSET 0) AS h
          WHERE h.tenant_id = tenancy LIMIT 2001);
        IF cardinality(found) > 2000 THEN RETURN NULL; END IF;
        IF newest THEN
          RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id < beyond ORDER BY id DESC LIMIT most);
        END IF;
        RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id > beyond ORDER BY id LIMIT most);
      END $$ $create$, searched.column1, searched.column2, searched.column3);
    EXECUTE format($create$
      CREATE OR REPLACE FUNCTION archivist.count_%1$ss(tenancy uuid, places text[], names text[], texts text[], most bigint)
        RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
        SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
      DECLARE
        terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
      BEGIN
        RETURN (SELECT count(*) FROM (
          SELECT FROM (SELECT tenant_id FROM archivist.%1$s WHERE %2$s @> terms OFFSET 0) AS h
            WHERE h.tenant_id = tenancy LIMIT most) AS counted);
      END $$ $create$, searched.column1, searched.column3);
  END LOOP;
END $do$;
