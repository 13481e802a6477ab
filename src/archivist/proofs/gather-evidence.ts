import { tenancyLog } from '../../ledger/log.js';
import { findLog } from '../../ledger/log-store.js';
import { massifLeaves, massifView, sealView } from '../../ledger/massif-view.js';
import { witnessedSeal } from '../../ledger/witnesses/witnessed-seal.js';
import { ApiError } from '../../platform/errors.js';
import type { Tx } from '../../platform/postgres/database.js';
import { statementLog } from '../deployment.js';
import { assetEventResponse } from '../events/asset-event.js';
import { assetFreeEventResponse } from '../events/asset-free-event.js';
import { commitOf } from '../events/read-asset-events.js';
import { entryProof, hasStatement, type ProofSource, type ProvenEvent } from './entry-proofs.js';
import type { Evidence } from './evidence-bundle.js';

/**
 * Gathers all current evidence of one event.
 * @param parts.massif false leaves out the file that is the same for every event in it
 * @throws {ApiError} as `entryProof`; not_ready before the seal
 */
export async function gatherEvidence(
  tx: Tx,
  source: ProofSource,
  proven: ProvenEvent,
  parts: { readonly massif: boolean },
): Promise<Evidence> {
  const { event } = proven;
  const { deployment } = source;
  const receipt = {
    map: await entryProof(tx, source, proven, 'receipt', 'map'),
    draft: await entryProof(tx, source, proven, 'receipt', 'draft'),
  };
  const commit = await commitOf(tx, proven.kind, event);
  const ref = tenancyLog(event.tenantId);
  const log = await findLog(tx, ref);
  if (!commit || !log) throw notReady();
  const massif = Number(commit.leafIndex / massifLeaves(log));
  // The seal first: if a round publishes in between, the file is longer than its seal, which still verifies.
  const sealFile = await sealView(tx, ref, massif);
  const massifFile = parts.massif ? await massifView(tx, ref, massif) : undefined;
  if (!sealFile || (parts.massif && !massifFile)) throw notReady();
  const shown =
    proven.kind === 'asset_event'
      ? assetEventResponse(proven.event, commit, proven.form)
      : assetFreeEventResponse(proven.event, commit);
  const witnessed =
    commit.witnessed && proven.kind === 'asset_event'
      ? await witnessedSeal(tx, statementLog(deployment, true), ref, commit.leafIndex)
      : undefined;
  return {
    event: shown,
    logTenancy: event.tenantId,
    issuingTenancy: proven.kind === 'asset_event' ? proven.event.originTenantId : event.tenantId,
    massif,
    massifFile: massifFile?.bytes,
    sealFile: sealFile.bytes,
    receipt,
    witnessed,
    ...((await hasStatement(tx, deployment, proven))
      ? {
          signedStatement: await entryProof(tx, source, proven, 'signed-statement', 'map'),
          transparentStatement: await entryProof(tx, source, proven, 'transparent-statement', 'map'),
        }
      : {}),
  };
}

function notReady(): ApiError {
  return new ApiError('not_ready', 'The proof is not ready yet: the event waits for its log to be sealed.', {
    'retry-after': '1',
  });
}
