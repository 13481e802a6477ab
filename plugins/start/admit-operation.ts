import type { CaptureOperation } from '../capture/capture-operation.js';
import { OperationError } from '../operation/operation.js';
import { withRecordedLabels } from '../operation/recorded-labels.js';
import type { ClientCredentials } from '../settings/plugin-settings.js';

/**
 * Lets only operations of known tenancies in, with their labels as they are recorded. Every way of capture goes through it.
 * The capture rejects with {@link OperationError} for a tenancy that nobody can deliver for.
 */
export function admitOperations(
  capture: CaptureOperation,
  own: ClientCredentials,
  tenancies: ReadonlyMap<string, ClientCredentials>,
): CaptureOperation {
  return async (ended, window) => {
    const { tenancy } = ended.operation;
    const credentials = tenancy === undefined ? own : tenancies.get(tenancy);
    if (!credentials) throw new OperationError('the tenancy is none of ARCHIVIST_TENANCIES');
    const secret = credentials.labelSecret ?? credentials.clientSecret;
    return capture({ ...ended, operation: withRecordedLabels(ended.operation, secret) }, window);
  };
}
