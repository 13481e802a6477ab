import type { CaptureMethod, Observation } from '../operation/capture-sequence.js';
import type { Operation } from '../operation/operation.js';
import type { VconFacts } from '../operation/vcon-facts.js';

/** A completed operation, and how it was observed. */
export interface Ended {
  readonly operation: Operation;
  readonly vcon: VconFacts;
  /** The uuid under which the conserver holds the document and lets it leave; undefined if the method does not see it. */
  readonly key?: string;
  readonly method: CaptureMethod;
  readonly observed: Observation;
}
