-- Subjects: the organisations that a tenancy knows, by their keys. And the day on which a tenancy was disabled.

ALTER TABLE archivist.tenancy ADD COLUMN disabled_at timestamptz;
CREATE INDEX tenancy_by_wallet ON archivist.tenancy (wallet_address);

CREATE TABLE archivist.subject (
  tenant_id uuid NOT NULL REFERENCES archivist.tenancy,
  -- All zeros in every tenancy: Self, its own keys.
  subject_id uuid NOT NULL,
  display_name text NOT NULL,
  wallet_pub_key text[] NOT NULL,
  wallet_address text[] NOT NULL,
  tessera_pub_key text[] NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, subject_id)
);
CREATE INDEX subject_by_display_name ON archivist.subject (tenant_id, display_name, subject_id);
SELECT archivist.isolate_by_tenancy('archivist.subject', 'SELECT, INSERT, UPDATE, DELETE');

-- The subjects of a tenancy that hold a wallet: what mutual imports are looked up by.
CREATE TABLE archivist.subject_wallet (
  tenant_id uuid NOT NULL,
  wallet_address text NOT NULL,
  subject_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, wallet_address, subject_id),
  FOREIGN KEY (tenant_id, subject_id) REFERENCES archivist.subject ON DELETE CASCADE
);
CREATE INDEX subject_wallet_by_subject ON archivist.subject_wallet (tenant_id, subject_id);
SELECT archivist.isolate_by_tenancy('archivist.subject_wallet', 'SELECT, INSERT, DELETE');

-- The tenancies of this deployment that hold the wallet of `mine` in a subject and whose wallet `mine` holds in one, and by
-- which subjects. It looks across tenancies, and answers only for a tenancy that the transaction may read.
CREATE FUNCTION archivist.confirmed_shares(mine uuid)
RETURNS TABLE (other_tenancy uuid, known_here_as uuid[], known_there_as uuid[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
  scope text := coalesce(current_setting('archivist.scope', true), '');
BEGIN
  -- A SET clause would be simpler, and only a superuser may make a function with one for a setting of ours.
  PERFORM set_config('archivist.scope', 'system', true);
  RETURN QUERY
    SELECT other.tenant_id,
           array_agg(DISTINCT here.subject_id),
           (SELECT array_agg(there.subject_id) FROM archivist.subject_wallet there
             WHERE there.tenant_id = other.tenant_id AND there.wallet_address = me.wallet_address)
      FROM archivist.tenancy me
      JOIN archivist.subject_wallet here ON here.tenant_id = me.tenant_id
      JOIN archivist.tenancy other ON other.wallet_address = here.wallet_address AND other.tenant_id <> me.tenant_id
     WHERE me.tenant_id = mine AND mine = ANY (archivist.readable_tenancies())
       AND me.disabled_at IS NULL AND other.disabled_at IS NULL AND other.kind = 'organisation'
       AND EXISTS (SELECT FROM archivist.subject_wallet there
                    WHERE there.tenant_id = other.tenant_id AND there.wallet_address = me.wallet_address)
     GROUP BY other.tenant_id, me.wallet_address;
  PERFORM set_config('archivist.scope', scope, true);
END $$;

-- Self of the tenancies that are there already: their keys as points, x after y behind a 04.
SELECT set_config('archivist.scope', 'system', true);
WITH coordinate AS (
  SELECT k.tenant_id, k.role,
         decode(translate(k.public_jwk ->> 'x', '-_', '+/') || '=', 'base64') AS x,
         decode(translate(k.public_jwk ->> 'y', '-_', '+/') || '=', 'base64') AS y
    FROM archivist.signing_key k WHERE k.role IN ('wallet', 'tessera') AND k.state = 'active'
)
INSERT INTO archivist.subject (tenant_id, subject_id, display_name, wallet_pub_key, wallet_address, tessera_pub_key, created_at)
  SELECT t.tenant_id, '00000000-0000-0000-0000-000000000000', 'Self',
         ARRAY[encode('\x04'::bytea || w.x || w.y, 'hex')], ARRAY[t.wallet_address],
         ARRAY[translate(encode('\x04'::bytea || s.x || s.y, 'base64'), E'\n', '')], t.created_at
    FROM archivist.tenancy t
    JOIN coordinate w ON w.tenant_id = t.tenant_id AND w.role = 'wallet'
    JOIN coordinate s ON s.tenant_id = t.tenant_id AND s.role = 'tessera';
INSERT INTO archivist.subject_wallet (tenant_id, wallet_address, subject_id)
  SELECT s.tenant_id, s.wallet_address[1], s.subject_id FROM archivist.subject s;
SELECT set_config('archivist.scope', '', true);
