import { timestampOf } from '../../platform/timestamps.js';
import type { Submission } from '../accept/submission.js';
import { assetResponse, type CreateAssetBody } from '../assets/asset.js';
import { type ReadAssetDeps, readAsset } from '../assets/read-assets.js';
import { readAttributes } from '../attributes.js';
import { idempotencyClaim } from '../idempotency/idempotency.js';
import type { CreateDeps, CreateRequest } from './create-request.js';

export type CreateAssetDeps = CreateDeps & ReadAssetDeps;

/** Creates an asset and its NewAsset event. With a repeated Idempotency-Key, returns the asset of the first request. */
export async function createAsset(
  deps: CreateAssetDeps,
  request: CreateRequest<CreateAssetBody>,
): Promise<Record<string, unknown>> {
  const { body, principal } = request;
  const submission: Submission = {
    kind: 'asset',
    principal,
    idempotency: idempotencyClaim(request),
    attributes: readAttributes(body.attributes, 'attributes'),
    behaviours: body.behaviours ?? [],
    proofMechanism: body.proof_mechanism === 'SIMPLE_HASH' ? 'SIMPLE_HASH' : 'MERKLE_LOG',
    public: body.public ?? false,
  };
  const accepted = await deps.writer.accept(submission);
  if (accepted.kind === 'earlier') return readAsset(deps, principal, accepted.id);
  if (accepted.kind !== 'asset') throw new TypeError('an asset was answered with another kind');
  return assetResponse(accepted.asset, { status: 'STORED', atTime: timestampOf(deps.clock.now()) });
}
