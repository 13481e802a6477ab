import { compareCodePoints } from './code-points.js';
import type { SearchFilter, SearchOperator } from './odata.js';

/** An asset-free event as a search uses it. */
export interface SearchedEvent {
  readonly trails: readonly string[];
  readonly event_type: string;
  readonly origin_tenant: string;
  readonly created_by: string;
  /** Unix milliseconds. */
  readonly created_at: bigint;
  /** Absent until a log has committed the event. */
  readonly ledger_entry?: {
    readonly index: bigint;
    readonly idtimestamp: string;
    readonly content_hash: string;
  };
}

/**
 * True if the event matches the filter. `odata-sql.ts` gives the same result in SQL. A property that the event does not
 * have is unequal to every value, and neither greater nor less than one.
 */
export function matchesSearchFilter(filter: SearchFilter, event: SearchedEvent): boolean {
  return holds(filter, event, undefined);
}

function holds(filter: SearchFilter, event: SearchedEvent, trail: string | undefined): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => holds(part, event, trail));
    case 'or':
      return filter.parts.some((part) => holds(part, event, trail));
    case 'not':
      return !holds(filter.part, event, trail);
    case 'anyTrail':
      return event.trails.some((each) => holds(filter.part, event, each));
    case 'compare': {
      const found = filter.property === 'trail' ? trail : propertyOf(event, filter.property);
      if (found === undefined) return filter.operator === 'ne';
      return ordered(filter.operator, compareValues(found, filter.value));
    }
  }
}

function propertyOf(event: SearchedEvent, property: string): string | bigint | undefined {
  switch (property) {
    case 'ledger_entry/index':
      return event.ledger_entry?.index;
    case 'ledger_entry/idtimestamp':
      return event.ledger_entry?.idtimestamp;
    case 'ledger_entry/content_hash':
      return event.ledger_entry?.content_hash;
    default:
      return event[property as 'event_type' | 'origin_tenant' | 'created_by' | 'created_at'];
  }
}

function compareValues(found: string | bigint, value: string | bigint): number {
  if (typeof found === 'string' && typeof value === 'string') return compareCodePoints(found, value);
  return found < value ? -1 : found > value ? 1 : 0;
}

function ordered(operator: SearchOperator, order: number): boolean {
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
  }
}
