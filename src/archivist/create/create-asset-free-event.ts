import { SECURITY_EVENT_TYPE } from '../../iam/security/security-event.js';
import { ApiError } from '../../platform/errors.js';
import type { Submission } from '../accept/submission.js';
import { readAttributes } from '../attributes.js';
import { assetFreeEventResponse, type CreateAssetFreeEventBody } from '../events/asset-free-event.js';
import { readAssetFreeEvent } from '../events/read-asset-free-event.js';
import { idempotencyClaim } from '../idempotency/idempotency.js';
import type { CreateDeps, CreateRequest } from './create-request.js';

/** Records an asset-free event. With a repeated Idempotency-Key, returns the event of the first request. */
export async function createAssetFreeEvent(
  deps: CreateDeps,
  request: CreateRequest<CreateAssetFreeEventBody>,
): Promise<Record<string, unknown>> {
  const accepted = await deps.writer.accept(assetFreeEventSubmission(request));
  if (accepted.kind === 'earlier') return readAssetFreeEvent(deps, request.principal, accepted.id);
  if (accepted.kind !== 'asset_free_event') throw new TypeError('an event was answered with another kind');
  return assetFreeEventResponse(accepted.event, undefined);
}

/** The submission of a create request. @throws {ApiError} bad_request naming the field */
export function assetFreeEventSubmission(request: CreateRequest<CreateAssetFreeEventBody>): Submission {
  const { body, principal } = request;
  if (body.event_type === SECURITY_EVENT_TYPE)
    throw new ApiError('bad_request', `event_type: ${SECURITY_EVENT_TYPE} is reserved for the service`);
  return {
    kind: 'asset_free_event',
    principal,
    idempotency: idempotencyClaim(request),
    attributes: readAttributes(body.attributes, 'attributes'),
    trails: body.trails ?? [],
    eventType: body.event_type ?? '',
  };
}
