import type { AuditedTable } from './audited-table.js';
import { UNAUDITED_TABLES } from './unaudited-tables.js';

const INDEX = 'an index that is derived from other columns';
const BOOKKEEPING = 'bookkeeping of the running service';
const TENANCY =
  'a name for people and the wallet of anchors; evidence names tenancies by their uuid, which its logs cover';

/** Every column of every table: first the tables that a log is built from or that describe a log, then all others. */
export const AUDITED_TABLES: Readonly<Record<string, AuditedTable>> = {
  asset_event: {
    covered: [
      'tenant_id',
      'event_id',
      'asset_id',
      'origin_tenant_id',
      'operation',
      'behaviour',
      'event_attributes',
      'asset_attributes',
      'principal_declared',
      'principal_accepted',
      'timestamp_declared',
      'timestamp_accepted',
      'accepted_at',
      'from_address',
    ],
    open: { subject: INDEX, display_type: INDEX },
  },
  asset_free_event: {
    covered: ['tenant_id', 'event_id', 'attributes', 'trails', 'event_type', 'created_by', 'created_at_ms'],
    open: {
      creator_issuer: 'it is in no log; it only decides whether the creator may read the event',
      searched_creator: INDEX,
      searched_type: INDEX,
    },
  },
  asset_free_event_trail: { covered: ['tenant_id', 'trail_start', 'event_id'], open: {} },
  asset: {
    covered: [
      'tenant_id',
      'asset_id',
      'origin_tenant_id',
      'new_asset_event_id',
      'attributes',
      'proof_mechanism',
      'public',
      'tracked',
      'owner',
      'creator_issuer',
      'creator_subject',
      'created_at',
    ],
    open: {
      behaviours: 'no event names them, and they hide no event',
      subject: INDEX,
      display_type: INDEX,
    },
  },
  tenancy: {
    covered: ['tenant_id'],
    open: {
      kind: TENANCY,
      display_name: TENANCY,
      verified_domain: TENANCY,
      wallet_address: TENANCY,
      created_at: TENANCY,
      disabled_at:
        "whether its tokens are accepted; a change made through the service is in the tenancy's security audit",
    },
  },
  statement: { covered: ['tenant_id', 'event_id', 'entry'], open: {} },
  registration: {
    covered: [
      'tenant_id',
      'statement_hash',
      'event_id',
      'asset_id',
      'submitted',
      'creator_issuer',
      'creator_subject',
      'policy_digest',
      'key_resolution',
      'registered_at',
    ],
    open: {},
  },
  registration_policy: { covered: ['tenant_id', 'digest', 'policy'], open: {} },
  statement_asset: { covered: ['tenant_id', 'public', 'asset_id'], open: {} },
  payload_hash_log: { covered: ['tenant_id', 'log_id'], open: {} },
  payload_hash_registration: {
    covered: ['tenant_id', 'statement_hash', 'entry_id', 'submitted'],
    open: { registered_at: 'its log holds a hash but no time; the time of the leaf is covered' },
  },
  log: {
    covered: [
      'tenant_id',
      'log_id',
      'structure',
      'name',
      'massif_height',
      'size',
      'leaves',
      'last_idtimestamp',
      'seal_number',
      'sealed_size',
      'published_number',
      'published_size',
      'witnessed_leaves',
      'plain_checkpoint',
      'forks',
    ],
    open: {
      lease_holder: BOOKKEEPING,
      lease_epoch: BOOKKEEPING,
      lease_until: BOOKKEEPING,
      halted: BOOKKEEPING,
      created_at: 'nothing is derived from it',
    },
  },
  leaf: {
    covered: [
      'tenant_id',
      'log_id',
      'leaf_index',
      'entry_id',
      'entry_kind',
      'entry_tenant_id',
      'idtimestamp',
      'timestamp_committed',
      'trie_key',
      'extra_bytes',
    ],
    open: {},
  },
  signing_key: {
    covered: [
      'tenant_id',
      'key_id',
      'role',
      'algorithm',
      'public_jwk',
      'state',
      'valid_from',
      'valid_until',
      'certificate',
    ],
    open: {},
  },
  key_manifest: { covered: ['tenant_id', 'number', 'entry_id', 'manifest'], open: {} },
  key_follower: {
    covered: [],
    open: { tenant_id: BOOKKEEPING, process_id: BOOKKEEPING, number: BOOKKEEPING, seen_at: BOOKKEEPING },
  },
  node_page: { covered: ['tenant_id', 'log_id', 'page', 'nodes'], open: {} },
  peak_receipt: { covered: ['tenant_id', 'log_id', 'node_index', 'key_id', 'receipt'], open: {} },
  seal: {
    covered: ['tenant_id', 'log_id', 'seal_number', 'size', 'leaves', 'key_id', 'sealed_at_ms', 'root', 'signed'],
    open: {},
  },
  registered_seal: { covered: ['tenant_id', 'log_id', 'seal_number', 'leaves', 'entry_id'], open: {} },
  cosigned_checkpoint: { covered: ['tenant_id', 'log_id', 'size', 'note'], open: {} },
  witness_size: {
    covered: [],
    open: { tenant_id: BOOKKEEPING, log_id: BOOKKEEPING, witness: BOOKKEEPING, size: BOOKKEEPING },
  },
  intake: {
    covered: [],
    open: {
      tenant_id: BOOKKEEPING,
      log_id: BOOKKEEPING,
      entry_id: BOOKKEEPING,
      entry_kind: BOOKKEEPING,
      entry_tenant_id: BOOKKEEPING,
      entry_length: BOOKKEEPING,
    },
  },
  simple_hash_event: { covered: ['tenant_id', 'event_id', 'accepted_at', 'anchor_number'], open: {} },
  anchor_window: {
    covered: ['tenant_id', 'anchored_until', 'anchors'],
    open: { closed_until: 'the end of the open window; only an end before the last anchor’s end is found' },
  },
  anchor: {
    covered: [
      'tenant_id',
      'anchor_number',
      'start_time',
      'end_time',
      'hash_schema_version',
      'anchor_hash',
      'event_count',
    ],
    open: {},
  },
  chain_block: { covered: ['tenant_id', 'block_number', 'block_hash', 'header', 'next_nonce'], open: {} },
  chain_transaction: {
    covered: [
      'tenant_id',
      'kind',
      'number',
      'transaction_hash',
      'block_number',
      'transaction_index',
      'sender',
      'signed',
    ],
    open: {},
  },
  ...UNAUDITED_TABLES,
};

/** Columns that are covered only in part. */
const LIMITS = [
  'asset.attributes: a value that no event gave the asset, and a missing attribute. An older value in place of a newer one is found if the two events are ten minutes apart. In assets with more than 10,000 events, nothing is found.',
  'asset.tracked: a change is found only if the asset has no event that starts tracking, or no event that stops it.',
  'signing_key: everything except key_id and valid_from in the row of the token pepper; each start of the service compares these with KEYS_DIR.',
  'asset_free_event.event_type, created_by and created_at_ms: for events from before the service signed records, a change that differs in 56 bits of a hash.',
  'leaf.idtimestamp of statement logs: another millisecond or another order. Nothing that is signed there has a time.',
  'seal.sealed_at_ms of statement logs: a time out of order, for the same reason.',
  'log.massif_height of statement logs: nothing, because they have no massifs.',
  'payload_hash_registration.submitted: everything except its unprotected header.',
  'cosigned_checkpoint.note: only the cosignatures of the witnesses in WITNESSES.',
  'cosigned_checkpoint: a deleted row, if it was the largest. A larger checkpoint covers what a smaller one did.',
  'registration.policy_digest and key_resolution: for events from before both were recorded in the event, only a missing policy.',
] as const;

/** Returns the same list as lines. */
export function coverageLines(): string[] {
  const tables = Object.entries(AUDITED_TABLES);
  const covered = tables.filter(([, { covered }]) => covered.length > 0);
  const open = tables.flatMap(([table, each]) => {
    const reasons = new Map<string, string[]>();
    for (const [column, why] of Object.entries(each.open)) reasons.set(why, [...(reasons.get(why) ?? []), column]);
    return [...reasons].map(([why, columns]) => `  ${table}.${columns.join(', ')}: ${why}`);
  });
  return [
    'Covered columns (a change of any row is found):',
    ...covered.map(([table, each]) => `  ${table}: ${each.covered.join(', ')}`),
    'Columns that are not covered:',
    ...open,
    'Columns that are covered in part, and what is found there:',
    ...LIMITS.map((limit) => `  ${limit}`),
  ];
}
