-- Ids are ordered as the events were accepted, apart from those whose clock had been set back or ran behind another's. A
-- search by time reads a range of ids and these exceptions, which the index asset_event_out_of_step finds. It is made by
-- concurrent-indexes.ts, because events are accepted while it grows.

CREATE FUNCTION archivist.out_of_step(event_id uuid, accepted_at timestamptz) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$ SELECT abs(('x' || translate(left(event_id::text, 13), '-', ''))::bit(48)::bigint
       - extract(epoch FROM accepted_at AT TIME ZONE 'UTC') * 1000) > 5000 $$;
