import type { EventAttributes } from '../operation/operation-event.js';

/** An event that is to be recorded. */
export interface NewEvent {
  readonly timestampDeclared?: string | undefined;
  readonly attributes: EventAttributes;
}

/** The body of the request that records it. */
export function eventBody({ timestampDeclared, attributes }: NewEvent) {
  return {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    timestamp_declared: timestampDeclared,
    event_attributes: attributes,
  };
}
