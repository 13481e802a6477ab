/**
 * The columns of every table with their types; `?` if a column can be NULL. `npm run schema` writes this file from the
 * migrated database. Generated columns and the table of the migrations are left out, because the program does not use them.
 */
// biome-ignore format: one paragraph for each table
export const SCHEMA = {
  access_policy: {
    tenant_id: 'uuid', policy_id: 'uuid', version: 'bigint', display_name: 'text', description: 'text',
    filters: 'jsonb', access_permissions: 'jsonb', created_at: 'timestamptz', weight: 'integer?',
  },
  access_policy_audit: {
    tenant_id: 'uuid', policy_id: 'uuid', version: 'bigint', filters: 'jsonb', event_attributes: 'jsonb',
    after_asset: 'uuid', created_at: 'timestamptz',
  },
  access_policy_principal: {
    tenant_id: 'uuid', principal: 'text', policy_id: 'uuid',
  },
  anchor: {
    tenant_id: 'uuid', anchor_number: 'bigint', start_time: 'timestamptz', end_time: 'timestamptz',
    hash_schema_version: 'smallint', anchor_hash: 'bytea', event_count: 'bigint',
  },
  anchor_window: {
    tenant_id: 'uuid', anchored_until: 'timestamptz', closed_until: 'timestamptz', anchors: 'bigint',
  },
  application: {
    tenant_id: 'uuid', application_id: 'uuid', display_name: 'text', custom_claims: 'jsonb', roles: 'text[]',
    created_at: 'timestamptz',
  },
  application_credential: {
    tenant_id: 'uuid', application_id: 'uuid', credential_id: 'uuid', secret_hmac: 'bytea', valid_from: 'timestamptz',
    valid_until: 'timestamptz',
  },
  asset: {
    tenant_id: 'uuid', asset_id: 'uuid', origin_tenant_id: 'uuid', new_asset_event_id: 'uuid', attributes: 'jsonb',
    behaviours: 'text[]', proof_mechanism: 'text', public: 'boolean', tracked: 'boolean', owner: 'text',
    creator_issuer: 'text', creator_subject: 'text', created_at: 'timestamptz',
  },
  asset_event: {
    tenant_id: 'uuid', event_id: 'uuid', asset_id: 'uuid', origin_tenant_id: 'uuid', operation: 'text',
    behaviour: 'text', event_attributes: 'jsonb', asset_attributes: 'jsonb', principal_declared: 'jsonb',
    principal_accepted: 'jsonb', timestamp_declared: 'text', timestamp_accepted: 'text', accepted_at: 'timestamptz',
    from_address: 'text',
  },
  asset_free_event: {
    tenant_id: 'uuid', event_id: 'uuid', attributes: 'jsonb', trails: 'jsonb', event_type: 'text',
    creator_issuer: 'text', created_by: 'text', created_at_ms: 'bigint',
  },
  asset_free_event_trail: {
    tenant_id: 'uuid', trail_start: 'text', event_id: 'uuid',
  },
  blob: {
    tenant_id: 'uuid', blob_id: 'uuid', creator_issuer: 'text', creator_subject: 'text', mime_type: 'text',
    size: 'bigint', sha256: 'bytea', accepted_at: 'timestamptz', scanned_status: 'text', scanned_at: 'timestamptz?',
    scanned_bad_reason: 'text',
  },
  blob_upload: {
    tenant_id: 'uuid', blob_id: 'uuid', begun_at: 'timestamptz',
  },
  capture_report: {
    tenant_id: 'uuid', report_id: 'uuid', application_id: 'uuid', source: 'uuid', observed_at: 'timestamptz',
    reported_at: 'timestamptz', state: 'jsonb',
  },
  chain_block: {
    tenant_id: 'uuid', block_number: 'bigint', block_hash: 'bytea', header: 'bytea', next_nonce: 'bigint',
  },
  chain_transaction: {
    tenant_id: 'uuid', kind: 'text', number: 'bigint', transaction_hash: 'bytea', block_number: 'bigint',
    transaction_index: 'integer', sender: 'text', signed: 'bytea',
  },
  compliance_policy: {
    tenant_id: 'uuid', policy_id: 'uuid', policy: 'jsonb', created_at: 'timestamptz',
  },
  compliance_scan: {
    tenant_id: 'uuid', policy_id: 'uuid', after_asset: 'uuid', done: 'boolean',
  },
  compliance_verdict: {
    tenant_id: 'uuid', policy_id: 'uuid', asset_id: 'uuid', compliant: 'boolean', due_at: 'timestamptz?',
  },
  compliance_watch: {
    tenant_id: 'uuid', cursor: 'bigint',
  },
  cosigned_checkpoint: {
    tenant_id: 'uuid', log_id: 'uuid', size: 'bigint', note: 'text',
  },
  deployment: {
    only_row: 'boolean', deployment_tenancy: 'uuid', public_tenancy: 'uuid', public_statement_log: 'uuid',
    private_statement_log: 'uuid', created_at: 'timestamptz', keys_log: 'uuid',
  },
  idempotency: {
    tenant_id: 'uuid', scope: 'bytea', body_hash: 'bytea', resource: 'text', created_at: 'timestamptz',
  },
  identity_provider: {
    tenant_id: 'uuid', enabled: 'boolean', issuer: 'text', client_id: 'text', client_secret_sealed: 'text',
    audience: 'text', claim_names: 'jsonb',
  },
  intake: {
    tenant_id: 'uuid', log_id: 'uuid', entry_id: 'uuid', entry_kind: 'text', entry_tenant_id: 'uuid',
    entry_length: 'integer',
  },
  invite: {
    tenant_id: 'uuid', invite_id: 'uuid', email: 'text', message: 'text', token_hash: 'bytea',
    expiry_time: 'timestamptz', created_at: 'timestamptz',
  },
  key_follower: {
    tenant_id: 'uuid', process_id: 'uuid', number: 'bigint', seen_at: 'timestamptz',
  },
  key_manifest: {
    tenant_id: 'uuid', number: 'bigint', entry_id: 'uuid', manifest: 'bytea',
  },
  leaf: {
    tenant_id: 'uuid', log_id: 'uuid', leaf_index: 'bigint', entry_id: 'uuid', entry_kind: 'text',
    entry_tenant_id: 'uuid', idtimestamp: 'bytea', timestamp_committed: 'text', trie_key: 'bytea?',
    extra_bytes: 'bytea?',
  },
  location: {
    tenant_id: 'uuid', location_id: 'uuid', display_name: 'text', description: 'text', latitude: 'double precision',
    longitude: 'double precision', attributes: 'jsonb', subject_identities: 'text[]', created_at: 'timestamptz',
  },
  log: {
    tenant_id: 'uuid', log_id: 'uuid', structure: 'text', name: 'text', massif_height: 'smallint', size: 'bigint',
    leaves: 'bigint', last_idtimestamp: 'bytea', lease_holder: 'text?', lease_epoch: 'bigint',
    lease_until: 'timestamptz?', seal_number: 'bigint', sealed_size: 'bigint', published_number: 'bigint',
    published_size: 'bigint', halted: 'text?', created_at: 'timestamptz', witnessed_leaves: 'bigint',
    plain_checkpoint: 'text?', forks: 'jsonb',
  },
  member: {
    tenant_id: 'uuid', member_id: 'uuid', issuer: 'text', subject: 'text', display_name: 'text', email: 'text',
    roles: 'text[]', active: 'boolean', created_at: 'timestamptz',
  },
  member_session: {
    tenant_id: 'uuid', session_hash: 'bytea', member_id: 'uuid', expires_at: 'timestamptz', groups: 'text[]',
    used_at: 'timestamptz',
  },
  node_page: {
    tenant_id: 'uuid', log_id: 'uuid', page: 'bigint', nodes: 'bytea',
  },
  past_grant: {
    tenant_id: 'uuid', grant_id: 'uuid', reader_tenant_id: 'uuid', subject_id: 'uuid', policy_id: 'uuid',
    version: 'bigint?', position: 'integer?', permission: 'jsonb', digest: 'text',
  },
  past_grant_asset: {
    tenant_id: 'uuid', asset_id: 'uuid', grant_id: 'uuid', until: 'timestamptz',
  },
  payload_hash_log: {
    tenant_id: 'uuid', log_id: 'uuid',
  },
  payload_hash_registration: {
    tenant_id: 'uuid', statement_hash: 'bytea', entry_id: 'uuid', submitted: 'bytea', registered_at: 'timestamptz',
  },
  peak_receipt: {
    tenant_id: 'uuid', log_id: 'uuid', node_index: 'bigint', key_id: 'text', receipt: 'bytea',
  },
  registered_seal: {
    tenant_id: 'uuid', log_id: 'uuid', seal_number: 'bigint', leaves: 'bigint', entry_id: 'uuid',
  },
  registrant: {
    tenant_id: 'uuid', event_id: 'uuid', issuer: 'text', subject: 'text',
  },
  registration: {
    tenant_id: 'uuid', statement_hash: 'bytea', event_id: 'uuid', asset_id: 'uuid', submitted: 'bytea',
    creator_issuer: 'text', creator_subject: 'text', policy_digest: 'bytea', key_resolution: 'jsonb',
    registered_at: 'timestamptz',
  },
  registration_policy: {
    tenant_id: 'uuid', digest: 'bytea', policy: 'text',
  },
  registration_settings: {
    tenant_id: 'uuid', self_asserted: 'boolean',
  },
  seal: {
    tenant_id: 'uuid', log_id: 'uuid', seal_number: 'bigint', size: 'bigint', leaves: 'bigint', key_id: 'text',
    sealed_at_ms: 'bigint', root: 'bytea', signed: 'bytea',
  },
  signing_key: {
    tenant_id: 'uuid', key_id: 'text', role: 'text', algorithm: 'text', public_jwk: 'jsonb', state: 'text',
    valid_from: 'timestamptz', valid_until: 'timestamptz?', certificate: 'bytea?',
  },
  simple_hash_event: {
    tenant_id: 'uuid', event_id: 'uuid', accepted_at: 'timestamptz', anchor_number: 'bigint?',
  },
  statement: {
    tenant_id: 'uuid', event_id: 'uuid', entry: 'bytea',
  },
  statement_asset: {
    tenant_id: 'uuid', public: 'boolean', asset_id: 'uuid',
  },
  subject: {
    tenant_id: 'uuid', subject_id: 'uuid', display_name: 'text', wallet_pub_key: 'text[]', wallet_address: 'text[]',
    tessera_pub_key: 'text[]', created_at: 'timestamptz',
  },
  subject_wallet: {
    tenant_id: 'uuid', wallet_address: 'text', subject_id: 'uuid',
  },
  tenancy: {
    tenant_id: 'uuid', kind: 'text', display_name: 'text', verified_domain: 'text', wallet_address: 'text',
    created_at: 'timestamptz', disabled_at: 'timestamptz?',
  },
  tenancy_usage: {
    tenant_id: 'uuid', resource: 'text', used: 'bigint',
  },
  tls_ca_certificate: {
    tenant_id: 'uuid', certificate_id: 'uuid', display_name: 'text', pem: 'text', subject_hash: 'bytea',
    created_at: 'timestamptz',
  },
  token_epoch: {
    tenant_id: 'uuid', client_id: 'uuid', epoch: 'bigint',
  },
  trust_anchor: {
    tenant_id: 'uuid', anchor_id: 'uuid', kind: 'text', display_name: 'text', issuer: 'text', kid: 'bytea',
    thumbprint: 'bytea', material: 'text', created_at: 'timestamptz',
  },
  webhook: {
    tenant_id: 'uuid', webhook_id: 'uuid', application_id: 'uuid', display_name: 'text', url: 'text',
    event_types: 'text[]', secret_sealed: 'text', cursor: 'bigint', created_at: 'timestamptz',
  },
  webhook_delivery: {
    tenant_id: 'uuid', delivery_id: 'uuid', webhook_id: 'uuid', position: 'bigint?', event_type: 'text', status: 'text',
    attempts: 'integer', next_attempt_at: 'timestamptz', last_error: 'text', created_at: 'timestamptz', about: 'jsonb?',
  },
  witness_size: {
    tenant_id: 'uuid', log_id: 'uuid', witness: 'text', size: 'bigint',
  },
} as const;
