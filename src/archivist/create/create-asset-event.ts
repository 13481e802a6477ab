import { ApiError } from '../../platform/errors.js';
import { readTimestamp } from '../../platform/timestamps.js';
import type { Submission } from '../accept/submission.js';
import { readAttributes } from '../attributes.js';
import { assetEventResponse, type CreateAssetEventBody, OPERATIONS } from '../events/asset-event.js';
import { readAssetEvent } from '../events/read-asset-events.js';
import { idempotencyClaim } from '../idempotency/idempotency.js';
import type { CreateDeps, CreateRequest } from './create-request.js';

/** Records an event on an asset. With a repeated Idempotency-Key, returns the event of the first request. */
export async function createAssetEvent(
  deps: CreateDeps,
  assetId: string,
  request: CreateRequest<CreateAssetEventBody>,
): Promise<Record<string, unknown>> {
  const accepted = await deps.writer.accept(assetEventSubmission(assetId, request));
  if (accepted.kind === 'earlier') return readAssetEvent(deps, request.principal, { assetId, eventId: accepted.id });
  if (accepted.kind !== 'asset_event') throw new TypeError('an event was answered with another kind');
  return assetEventResponse(accepted.event, undefined);
}

/** The submission of a create request. @throws {ApiError} bad_request naming the field */
export function assetEventSubmission(assetId: string, request: CreateRequest<CreateAssetEventBody>): Submission {
  const { body, principal } = request;
  const behaviour = OPERATIONS.get(body.operation);
  if (behaviour === undefined) {
    throw new ApiError('bad_request', `operation: must be one of ${[...OPERATIONS.keys()].join(', ')}`);
  }
  if (body.behaviour !== behaviour) {
    throw new ApiError('bad_request', `behaviour: the operation ${body.operation} belongs to ${behaviour}`);
  }
  const declared = body.timestamp_declared;
  return {
    kind: 'asset_event',
    principal,
    idempotency: idempotencyClaim(request),
    assetId,
    operation: body.operation,
    behaviour,
    eventAttributes: readAttributes(body.event_attributes, 'event_attributes'),
    assetAttributes: readAttributes(body.asset_attributes, 'asset_attributes'),
    principalDeclared: body.principal_declared ?? undefined,
    timestampDeclared: declared ? readTimestamp(declared, 'timestamp_declared').text : undefined,
  };
}
