import { type ApiError, retryLater } from '../../platform/errors.js';

/** The refusal of a write for a halted log, for a minute: only the operator can resume the log. */
export function logHalted(): ApiError {
  return retryLater(
    'unavailable',
    'The log that this belongs in is halted because its stored history is inconsistent. Nothing was stored. The operator must restore the data (vcon-archivist logs).',
    60,
  );
}
