-- Lists of asset-free events by any attribute, trail, type or creator, in the way of 000010. The index is made by concurrent-indexes.ts, because
-- events are accepted while it grows. The security audit has a list of its own and no terms.

CREATE FUNCTION archivist.asset_free_event_terms(tenancy uuid, attributes jsonb, trails jsonb, event_type text, created_by text)
  RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  seed bigint := hashtextextended((tenancy::text) COLLATE "C", 0);
  seed_event bigint := hashtextextended('event' COLLATE "C", seed);
  seed_attributes bigint := hashtextextended('event_attributes' COLLATE "C", seed);
  seed_trail bigint := hashtextextended('trail' COLLATE "C", seed_event);
BEGIN
  IF event_type = 'arc_security_event' THEN RETURN '{}'; END IF;
  RETURN ARRAY(SELECT hashtextextended(value COLLATE "C", hashtextextended(key COLLATE "C", seed_attributes)) FROM jsonb_each_text(attributes))
    || ARRAY(SELECT hashtextextended(trail COLLATE "C", seed_trail) FROM jsonb_array_elements_text(CASE jsonb_typeof(trails) WHEN 'array' THEN trails ELSE '[]' END) AS trail)
    || hashtextextended(event_type COLLATE "C", hashtextextended('event_type' COLLATE "C", seed_event))
    || hashtextextended(created_by COLLATE "C", hashtextextended('created_by' COLLATE "C", seed_event));
END $$;

CREATE POLICY searched ON archivist.asset_free_event FOR SELECT TO vcon_archivist_search USING (true);
GRANT SELECT ON archivist.asset_free_event TO vcon_archivist_search;
-- As for the other documents in 000031: nothing asks for these statistics.
ALTER TABLE archivist.asset_free_event ALTER COLUMN attributes SET STATISTICS 0;

CREATE FUNCTION archivist.find_asset_free_events(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)
  RETURNS uuid[] LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
  found uuid[];
BEGIN
  found := ARRAY(SELECT CASE WHEN tenant_id = tenancy THEN event_id END FROM archivist.asset_free_event
    WHERE archivist.asset_free_event_terms(tenant_id, attributes, trails, event_type, created_by) @> terms LIMIT 2001);
  IF cardinality(found) > 2000 THEN RETURN NULL; END IF;
  IF newest THEN
    RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id < beyond ORDER BY id DESC LIMIT most);
  END IF;
  RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id > beyond ORDER BY id LIMIT most);
END $$;

CREATE FUNCTION archivist.count_asset_free_events(tenancy uuid, places text[], names text[], texts text[], most bigint)
  RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
BEGIN
  RETURN (SELECT count(*) FROM (
    SELECT tenant_id FROM archivist.asset_free_event
     WHERE archivist.asset_free_event_terms(tenant_id, attributes, trails, event_type, created_by) @> terms LIMIT most) AS counted
    WHERE tenant_id = tenancy);
END $$;

GRANT CREATE ON SCHEMA archivist TO vcon_archivist_search;
DO $$
DECLARE
  finder regprocedure;
BEGIN
  FOR finder IN SELECT oid FROM pg_proc
    WHERE pronamespace = 'archivist'::regnamespace AND proname IN ('find_asset_free_events', 'count_asset_free_events') LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO vcon_archivist_search', finder);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', finder);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO vcon_archivist_service', finder);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA archivist FROM vcon_archivist_search;
