-- What a policy adds to every request of those whom it names (docs/access.md#limits-of-policies): 1 for each entry of its
-- filters, or 16 if one of them is `!=` or has a dotted name, 1 for each permission, and 1 for each started KiB of all.
CREATE FUNCTION archivist.access_policy_weight(filters jsonb, permissions jsonb) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (count(*) * CASE WHEN bool_or(strpos(name, '!') > 0 OR name LIKE '%.%.%') THEN 16 ELSE 1 END
      + jsonb_array_length(permissions)
      + ceil((octet_length(filters::text) + octet_length(permissions::text)) / 1024.0))::integer
    FROM jsonb_array_elements(filters) AS lists(list), jsonb_array_elements_text(list -> 'or') AS entries(entry),
         -- Names begin with `attributes.`.
         LATERAL (SELECT split_part(entry, CASE WHEN strpos(entry, '=') > 0 THEN '=' ELSE ':' END, 1) AS name) AS named
$$;

-- Stored, so that weighing policies does not read them; by the database, because processes of the version before write
-- policies too. NULL for those that were saved before: a table that many read is not rewritten.
ALTER TABLE archivist.access_policy ADD COLUMN weight integer;
CREATE FUNCTION archivist.weigh_access_policy() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.weight := archivist.access_policy_weight(NEW.filters, NEW.access_permissions);
    RETURN NEW;
  END $$;
CREATE TRIGGER weighed BEFORE INSERT OR UPDATE OF filters, access_permissions ON archivist.access_policy
  FOR EACH ROW EXECUTE FUNCTION archivist.weigh_access_policy();
