import { leafCount } from '../../core/mmr/leaf-count.js';
import type { SearchFilter } from '../../filter/odata.js';
import { type Condition, condition } from '../../platform/listing/condition.js';

type Comparison = Extract<SearchFilter, { kind: 'compare' }>;

/** Longer texts are not indexed. */
const INDEXED_BYTES = 1024;
const IDTIMESTAMP = /^01[0-9a-f]{16}$/;
const CONTENT_HASH = /^[0-9a-f]{64}$/;
const NOT_STRICT = { eq: '=', gt: '>=', ge: '>=', lt: '<=', le: '<=' } as const;

/**
 * Returns indexable conditions that every hit of a search meets. The filter itself decides; these conditions only avoid
 * a full scan. They refer to the event as `e` and to its leaf as `leaf`.
 */
export function narrowSearch(filter: SearchFilter, tenantId: string): Condition[] {
  if (filter.kind === 'and') return filter.parts.flatMap((part) => narrowSearch(part, tenantId));
  if (filter.kind === 'compare') return narrowComparison(filter, tenantId);
  const trail = filter.kind === 'anyTrail' ? filter.part : undefined;
  return trail?.kind === 'compare' && trail.operator === 'eq' ? [onTrail(tenantId, String(trail.value))] : [];
}

function onTrail(tenantId: string, trail: string): Condition {
  return condition(
    `e.event_id IN (SELECT t.event_id FROM archivist.asset_free_event_trail t
      WHERE t.tenant_id = ? AND t.trail_start = left(?::text, 256))`,
    tenantId,
    trail,
  );
}

function narrowComparison({ property, operator, value }: Comparison, tenantId: string): Condition[] {
  if (operator === 'ne') return [];
  const text = String(value);
  const equals = operator === 'eq';
  switch (property) {
    case 'event_type':
      return equals && indexed(text) ? [condition('e.searched_type = ?', text)] : [];
    case 'created_by':
      return equals && indexed(text) ? [condition('e.searched_creator = ?', text)] : [];
    case 'origin_tenant':
      return equals && text !== `tenant/${tenantId}` ? [condition('false')] : [];
    case 'ledger_entry/index':
      return [ofLeaf(`leaf.leaf_index ${NOT_STRICT[operator]} ?`, tenantId, leavesBefore(value))];
    case 'ledger_entry/idtimestamp':
      if (!IDTIMESTAMP.test(text)) return equals ? [condition('false')] : [];
      return [
        ofLeaf(
          `leaf.entry_kind = 'asset_free_event' AND leaf.idtimestamp ${NOT_STRICT[operator]} decode(?, 'hex')`,
          tenantId,
          text.slice(2),
        ),
      ];
    case 'ledger_entry/content_hash':
      return equals && !CONTENT_HASH.test(text) ? [condition('false')] : [];
    default:
      return [];
  }
}

function indexed(text: string): boolean {
  return Buffer.byteLength(text) <= INDEXED_BYTES;
}

/** The number of the leaf at a node index, or of the last leaf before it. */
function leavesBefore(value: Comparison['value']): string {
  const index = BigInt(value);
  return index < 0n ? '0' : leafCount(index).toString();
}

/** Gives the whole key, so that a search can start at the leaf. */
function ofLeaf(sql: string, tenantId: string, value: string): Condition {
  return condition(`leaf.tenant_id = ? AND leaf.log_id = ? AND ${sql}`, tenantId, tenantId, value);
}
