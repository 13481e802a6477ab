-- What a tenancy's applications are told by requests of ours, in the order of the tenancy's log.
CREATE TABLE archivist.webhook (
  tenant_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  application_id uuid NOT NULL,
  display_name text NOT NULL,
  url text NOT NULL,
  event_types text[] NOT NULL,
  -- Encrypted for this webhook: it signs each delivery, so a hash would not do.
  secret_sealed text NOT NULL,
  -- The last position of the tenancy's log for which deliveries were made.
  cursor bigint NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, webhook_id),
  FOREIGN KEY (tenant_id, application_id) REFERENCES archivist.application ON DELETE CASCADE
);
CREATE INDEX webhook_of_application ON archivist.webhook (tenant_id, application_id);
SELECT archivist.isolate_by_tenancy('archivist.webhook', 'SELECT, INSERT, UPDATE, DELETE');

-- What it carries is read when it is sent, as the application may read it then.
CREATE TABLE archivist.webhook_delivery (
  tenant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  position bigint NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL CHECK (status IN ('PENDING', 'DELIVERED', 'SET_ASIDE', 'WITHHELD')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  last_error text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, delivery_id),
  UNIQUE (tenant_id, webhook_id, position, event_type),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES archivist.webhook ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_due ON archivist.webhook_delivery (next_attempt_at) WHERE status = 'PENDING';
CREATE INDEX webhook_delivery_set_aside ON archivist.webhook_delivery (tenant_id) WHERE status = 'SET_ASIDE';
CREATE INDEX webhook_delivery_by_age ON archivist.webhook_delivery (created_at);
SELECT archivist.isolate_by_tenancy('archivist.webhook_delivery', 'SELECT, INSERT, UPDATE, DELETE');
