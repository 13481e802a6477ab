-- Searches by any attribute, principal or other text of an asset or event. Operators that look into jsonb or arrays are not
-- leakproof and use no index under row-level security, so a GIN index of hashed terms is read by functions that run under
-- a role of their own. That role can log in nowhere, and the functions answer for a tenancy that the transaction may read.
-- Measured with batches of 1,000 events: 26 us for one event's 25 terms, where a row for each of them cost above 75 us.

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vcon_archivist_search') THEN
    CREATE ROLE vcon_archivist_search NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- another database of the same cluster made it at this moment
END $$;

DO $$
BEGIN
  EXECUTE format('GRANT vcon_archivist_search TO %I', current_user);
EXCEPTION WHEN unique_violation THEN
  NULL;
END $$;

-- The tenancy is part of every term: what others have stored costs a search nothing and tells it nothing.
CREATE FUNCTION archivist.search_term(tenancy uuid, place text, name text, value text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
  $$ SELECT hashtextextended(value COLLATE "C", hashtextextended(name COLLATE "C", hashtextextended(place COLLATE "C", hashtextextended((tenancy::text) COLLATE "C", 0)))) $$;

-- Of members at the top level alone: other filters look at the rows. Written for speed: one call of a function in another
-- costs more than the hashing, and so does every set of rows; a list or map has the term of the text that it reads like.
CREATE FUNCTION archivist.asset_terms(tenancy uuid, attributes jsonb, tracked boolean) RETURNS bigint[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  seed bigint := hashtextextended('attributes' COLLATE "C", hashtextextended((tenancy::text) COLLATE "C", 0));
BEGIN
  RETURN ARRAY(SELECT hashtextextended(value COLLATE "C", hashtextextended(key COLLATE "C", seed)) FROM jsonb_each_text(attributes))
    || archivist.search_term(tenancy, 'asset', 'tracked', tracked::text);
END $$;

CREATE FUNCTION archivist.asset_event_terms(tenancy uuid, event_attributes jsonb, asset_attributes jsonb,
    principal_declared jsonb, principal_accepted jsonb, operation text, behaviour text, from_address text) RETURNS bigint[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  seed bigint := hashtextextended((tenancy::text) COLLATE "C", 0);
  seed_event bigint := hashtextextended('event' COLLATE "C", seed);
  seed_attributes bigint := hashtextextended('event_attributes' COLLATE "C", seed);
  seed_changes bigint := hashtextextended('asset_attributes' COLLATE "C", seed);
  seed_declared bigint := hashtextextended('principal_declared' COLLATE "C", seed);
  seed_accepted bigint := hashtextextended('principal_accepted' COLLATE "C", seed);
  terms bigint[] := ARRAY(
    SELECT hashtextextended(value COLLATE "C", hashtextextended(key COLLATE "C", seed_attributes)) FROM jsonb_each_text(event_attributes)
  ) || ARRAY[
    hashtextextended((principal_declared ->> 'issuer') COLLATE "C", hashtextextended('issuer' COLLATE "C", seed_declared)),
    hashtextextended((principal_declared ->> 'subject') COLLATE "C", hashtextextended('subject' COLLATE "C", seed_declared)),
    hashtextextended((principal_declared ->> 'display_name') COLLATE "C", hashtextextended('display_name' COLLATE "C", seed_declared)),
    hashtextextended((principal_declared ->> 'email') COLLATE "C", hashtextextended('email' COLLATE "C", seed_declared)),
    hashtextextended((principal_accepted ->> 'issuer') COLLATE "C", hashtextextended('issuer' COLLATE "C", seed_accepted)),
    hashtextextended((principal_accepted ->> 'subject') COLLATE "C", hashtextextended('subject' COLLATE "C", seed_accepted)),
    hashtextextended((principal_accepted ->> 'display_name') COLLATE "C", hashtextextended('display_name' COLLATE "C", seed_accepted)),
    hashtextextended((principal_accepted ->> 'email') COLLATE "C", hashtextextended('email' COLLATE "C", seed_accepted)),
    hashtextextended(operation COLLATE "C", hashtextextended('operation' COLLATE "C", seed_event)),
    hashtextextended(behaviour COLLATE "C", hashtextextended('behaviour' COLLATE "C", seed_event)),
    hashtextextended(from_address COLLATE "C", hashtextextended('from' COLLATE "C", seed_event))
  ];
BEGIN
  IF asset_attributes = '{}' THEN RETURN terms; END IF;
  RETURN terms || ARRAY(
    SELECT hashtextextended(value COLLATE "C", hashtextextended(key COLLATE "C", seed_changes)) FROM jsonb_each_text(asset_attributes));
END $$;

-- What was inserted last waits in a list that every search reads through: kept short.
CREATE INDEX asset_by_term ON archivist.asset
  USING gin (archivist.asset_terms(tenant_id, attributes, tracked)) WITH (gin_pending_list_limit = 256);
CREATE INDEX asset_event_by_term ON archivist.asset_event
  USING gin (archivist.asset_event_terms(tenant_id, event_attributes, asset_attributes, principal_declared,
    principal_accepted, operation, behaviour, from_address)) WITH (gin_pending_list_limit = 256);

CREATE POLICY searched ON archivist.asset FOR SELECT TO vcon_archivist_search USING (true);
CREATE POLICY searched ON archivist.asset_event FOR SELECT TO vcon_archivist_search USING (true);
GRANT SELECT ON archivist.asset, archivist.asset_event TO vcon_archivist_search;
GRANT USAGE ON SCHEMA archivist TO vcon_archivist_search;

-- The terms of a search. Refused for a tenancy that the transaction may not read, and without one.
CREATE FUNCTION archivist.searched_terms(tenancy uuid, places text[], names text[], texts text[]) RETURNS bigint[]
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (tenancy = ANY (archivist.readable_tenancies())) IS NOT TRUE THEN
    RAISE insufficient_privilege USING MESSAGE = 'the transaction may not search this tenancy';
  END IF;
  IF coalesce(cardinality(texts), 0) = 0 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'a search needs a term';
  END IF;
  RETURN ARRAY(SELECT archivist.search_term(tenancy, place, name, value) FROM unnest(places, names, texts) AS t(place, name, value));
END $$;

-- Ids of what has all the terms, beyond an id in the order asked for, at most so many: null when more than 2,000 have them,
-- which are found sooner by reading the rows in their order. Only the index of terms can answer these queries, whatever
-- the planner believes: for want of a condition on the key, and because a scan in another way would hash every row.
CREATE FUNCTION archivist.find_assets(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)
  RETURNS uuid[] LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
  found uuid[];
BEGIN
  found := ARRAY(SELECT CASE WHEN tenant_id = tenancy THEN asset_id END FROM archivist.asset
    WHERE archivist.asset_terms(tenant_id, attributes, tracked) @> terms LIMIT 2001);
  IF cardinality(found) > 2000 THEN RETURN NULL; END IF;
  IF newest THEN
    RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id < beyond ORDER BY id DESC LIMIT most);
  END IF;
  RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id > beyond ORDER BY id LIMIT most);
END $$;

CREATE FUNCTION archivist.find_asset_events(tenancy uuid, places text[], names text[], texts text[], beyond uuid, newest boolean, most integer)
  RETURNS uuid[] LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
  found uuid[];
BEGIN
  found := ARRAY(SELECT CASE WHEN tenant_id = tenancy THEN event_id END FROM archivist.asset_event
    WHERE archivist.asset_event_terms(tenant_id, event_attributes, asset_attributes, principal_declared,
      principal_accepted, operation, behaviour, from_address) @> terms LIMIT 2001);
  IF cardinality(found) > 2000 THEN RETURN NULL; END IF;
  IF newest THEN
    RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id < beyond ORDER BY id DESC LIMIT most);
  END IF;
  RETURN ARRAY(SELECT id FROM unnest(found) AS id WHERE beyond IS NULL OR id > beyond ORDER BY id LIMIT most);
END $$;

-- How many have all the terms, counted no further than `most` when it is not null.
CREATE FUNCTION archivist.count_asset_events(tenancy uuid, places text[], names text[], texts text[], most bigint)
  RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
BEGIN
  RETURN (SELECT count(*) FROM (
    SELECT tenant_id FROM archivist.asset_event
     WHERE archivist.asset_event_terms(tenant_id, event_attributes, asset_attributes, principal_declared,
       principal_accepted, operation, behaviour, from_address) @> terms LIMIT most) AS counted
    WHERE tenant_id = tenancy);
END $$;

CREATE FUNCTION archivist.count_assets(tenancy uuid, places text[], names text[], texts text[], most bigint)
  RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  terms bigint[] := archivist.searched_terms(tenancy, places, names, texts);
BEGIN
  RETURN (SELECT count(*) FROM (
    SELECT tenant_id FROM archivist.asset
     WHERE archivist.asset_terms(tenant_id, attributes, tracked) @> terms LIMIT most) AS counted
    WHERE tenant_id = tenancy);
END $$;

GRANT CREATE ON SCHEMA archivist TO vcon_archivist_search;
DO $$
DECLARE
  finder regprocedure;
BEGIN
  FOR finder IN SELECT oid FROM pg_proc WHERE pronamespace = 'archivist'::regnamespace AND prosecdef LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO vcon_archivist_search', finder);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', finder);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO vcon_archivist_service', finder);
  END LOOP;
END $$;
REVOKE CREATE ON SCHEMA archivist FROM vcon_archivist_search;
