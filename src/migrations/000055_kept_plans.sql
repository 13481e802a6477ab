-- What other tenancies share is asked for each read of an Owner. To plan that took longer than to find it.
ALTER FUNCTION archivist.confirmed_shares(uuid) SET plan_cache_mode = 'force_generic_plan';
ALTER FUNCTION archivist.confirmed_shares(uuid) SET enable_seqscan = off;
ALTER FUNCTION archivist.past_sharers(uuid) SET plan_cache_mode = 'force_generic_plan';
ALTER FUNCTION archivist.past_sharers(uuid) SET enable_seqscan = off;
