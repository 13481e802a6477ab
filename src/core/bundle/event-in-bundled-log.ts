import { toHex } from '../bytes.js';
import type { EventDocument } from '../statement/event-document.js';
import type { InclusionProof } from '../verify/claim.js';
import { type ForkPlaces, noteFork, otherLeaf, otherLeafFindings } from '../verify/other-leaf.js';
import { checked, createVerdict, type Findings } from '../verify/verdict.js';
import { eventLeaf } from '../verify/verify-event.js';
import { eventInProvenMassif } from '../verify/verify-event-in-log.js';
import type { ProvenMassif } from '../verify/verify-log.js';
import { placed } from './placed-findings.js';

/**
 * What the bundle's own copy of the log proves of an event. Another generation of the log may have another leaf in the
 * event's place.
 * @param known what the other pieces prove
 */
export async function eventInBundledLog(
  path: string,
  event: EventDocument,
  massif: ProvenMassif,
  known: readonly Partial<Findings>[],
): Promise<Partial<Findings>> {
  const { proven, failed } = await checked(path, () =>
    placed(createVerdict(eventInProvenMassif(event, massif)), { event: path }),
  );
  if (proven) return proven;
  const forks: ForkPlaces = new Map();
  noteFork(forks, massif);
  const { proven: other } = await checked(path, () => otherLeaf(event, massif, failed, forks));
  return other ? createVerdict(otherLeafFindings(path, [other], proofsOf(event, known))) : failed;
}

function proofsOf(event: EventDocument, findings: readonly Partial<Findings>[]): InclusionProof[] {
  const leaf = toHex(eventLeaf(event).leaf);
  const all = findings.flatMap(({ claims = [] }) => claims.flatMap(({ by }) => by));
  return all.filter((proof): proof is InclusionProof => proof.type === 'inclusion' && proof.leaf === leaf);
}
