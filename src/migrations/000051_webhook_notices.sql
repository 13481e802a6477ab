-- What webhooks tell beside events of the log: the state of capture, and compliance.

-- The last report of each queue that an application's plugin delivers from.
CREATE TABLE archivist.capture_report (
  tenant_id uuid NOT NULL,
  report_id uuid NOT NULL,
  application_id uuid NOT NULL,
  -- Chosen by the plugin, the same for all plugins of one queue.
  source uuid NOT NULL,
  -- By the plugin's clock: an earlier report that arrives late changes nothing.
  observed_at timestamptz NOT NULL,
  reported_at timestamptz NOT NULL,
  -- Counts, the identities of dead letters, and gaps.
  state jsonb NOT NULL,
  PRIMARY KEY (tenant_id, report_id),
  UNIQUE (tenant_id, application_id, source),
  FOREIGN KEY (tenant_id, application_id) REFERENCES archivist.application ON DELETE CASCADE
);
SELECT archivist.isolate_by_tenancy('archivist.capture_report', 'SELECT, INSERT, UPDATE, DELETE');

-- A delivery is about a position of the log or about something else, which `about` names.
ALTER TABLE archivist.webhook_delivery ALTER COLUMN position DROP NOT NULL;
ALTER TABLE archivist.webhook_delivery ADD COLUMN about jsonb;

-- Due deliveries are taken from one webhook after the other, those of each by the time at which they are due.
DROP INDEX archivist.webhook_delivery_due;
CREATE INDEX webhook_delivery_due ON archivist.webhook_delivery
  (tenant_id, webhook_id, next_attempt_at, position, delivery_id) WHERE status = 'PENDING';
CREATE INDEX webhook_delivery_of_webhook ON archivist.webhook_delivery (tenant_id, webhook_id, delivery_id);

-- Tenancies whose webhooks tell changed compliance: up to where their logs have been evaluated.
CREATE TABLE archivist.compliance_watch (
  tenant_id uuid PRIMARY KEY,
  cursor bigint NOT NULL
);
SELECT archivist.isolate_by_tenancy('archivist.compliance_watch', 'SELECT, INSERT, UPDATE, DELETE');
CREATE INDEX webhook_of_compliance ON archivist.webhook (tenant_id) WHERE 'compliance.changed' = ANY (event_types);

-- Up to which asset the first verdicts of a policy have been stored.
CREATE TABLE archivist.compliance_scan (
  tenant_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  after_asset uuid NOT NULL,
  done boolean NOT NULL,
  PRIMARY KEY (tenant_id, policy_id),
  FOREIGN KEY (tenant_id, policy_id) REFERENCES archivist.compliance_policy ON DELETE CASCADE
);
SELECT archivist.isolate_by_tenancy('archivist.compliance_scan', 'SELECT, INSERT, UPDATE, DELETE');

-- The last verdict of a policy about an asset that it applies to, and when time alone may change it.
CREATE TABLE archivist.compliance_verdict (
  tenant_id uuid NOT NULL,
  policy_id uuid NOT NULL,
  asset_id uuid NOT NULL,
  compliant boolean NOT NULL,
  due_at timestamptz,
  PRIMARY KEY (tenant_id, policy_id, asset_id),
  FOREIGN KEY (tenant_id, policy_id) REFERENCES archivist.compliance_policy ON DELETE CASCADE
);
CREATE INDEX compliance_verdict_due ON archivist.compliance_verdict (tenant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX compliance_verdict_of_asset ON archivist.compliance_verdict (tenant_id, asset_id);
SELECT archivist.isolate_by_tenancy('archivist.compliance_verdict', 'SELECT, INSERT, UPDATE, DELETE');
