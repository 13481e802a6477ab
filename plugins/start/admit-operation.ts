import type { CaptureOperation } from '../capture/capture-operation.js';
import { OperationError } from '../operation/operation.js';
import { withRecordedLabels } from '../operation/recorded-labels.js';
import type { ClientCredentials } from '../settings/plugin-settings.js';

/** The secret with which labels of a tenancy are hashed; undefined for a tenancy without credentials. */
export type LabelSecret = (tenancy: string | undefined) => string | undefined;

export function labelSecretOf(own: ClientCredentials, tenancies: ReadonlyMap<string, ClientCredentials>): LabelSecret {
  return (tenancy) => {
    const credentials = tenancy === undefined ? own : tenancies.get(tenancy);
    return credentials && (credentials.labelSecret ?? credentials.clientSecret);
  };
}

/**
 * Accepts only operations of known tenancies, and replaces their labels with the recorded form. Every capture method
 * uses it.
 * The capture rejects with {@link OperationError} for a tenancy without credentials.
 */
export function admitOperations(capture: CaptureOperation, labelSecret: LabelSecret): CaptureOperation {
  return async (ended, window) => {
    const secret = labelSecret(ended.operation.tenancy);
    if (secret === undefined) throw new OperationError('the tenancy is not in ARCHIVIST_TENANCIES');
    return capture({ ...ended, operation: withRecordedLabels(ended.operation, secret) }, window);
  };
}
