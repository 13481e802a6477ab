import type { BundleFiles } from '../bundle/bundle-index.js';
import { placeOf } from '../bundle/bundle-layout.js';
import { cutEvidencePage } from '../bundle/evidence-page.js';
import { isBundle, verifyBundle } from '../bundle/verify-bundle.js';
import { readEventDocument } from '../statement/event-document.js';
import { parseUnambiguousBytes } from '../vcon/unambiguous-json.js';
import { checked, createVerdict, type Verdict, verdictWithin } from '../verify/verdict.js';
import type { StatedEvent } from './event-agreement.js';
import type { EvidenceFile } from './evidence-file.js';
import { isConversation, kindOf } from './evidence-kind.js';
import type { GivenTrust } from './given-trust.js';
import { givenPageFindings, pageFindings } from './page-evidence.js';
import { UsageError } from './usage-error.js';

const STATEMENT = /(?:^|\/)transparent-statement\.cose$/;
const NO_EVIDENCE: readonly string[] = ['document', 'keys'];

/**
 * Checks a bundle, which is a zip or the folder that it was unpacked into.
 * @throws {UsageError} if it is not a bundle, cannot be read, or needs keys that were not given
 */
export async function bundleVerdict(bundle: EvidenceFile, trust: GivenTrust): Promise<Verdict> {
  const { path, bytes, folder } = bundle;
  const files = await filesOfBundle(bundle);
  const { statementLog, tenancyLog, witnesses, quorum, witnessedLog, verifySignature } = trust;
  // Events that are about no vCon have no statement, and need no issuer's keys.
  const needsIssuers = trust.hasIssuers || Object.keys(files).some((name) => STATEMENT.test(name));
  const verdict = await verifyBundle(files, {
    verifySignature,
    logKeys: await trust.logKeys(),
    ...(needsIssuers ? await trust.issuers() : { issuerKeys: [], issuer: trust.issuer }),
    statementLog,
    tenancyLog,
    witnesses,
    quorum,
    witnessedLog,
    sha256: trust.sha256,
    // A conversation is what the evidence may be about: it is compared only where it is given by itself.
    isEvidence: (content) => !NO_EVIDENCE.includes(kindOf(content)) || isConversation(content),
    isPart: folder!.isPart === true,
  });
  const known = await trust.knownPages?.();
  const inside = await pageFindings(files, known, trust.sha256);
  const page = cutEvidencePage(bytes);
  return createVerdict(
    verdictWithin(path, createVerdict(verdict, inside)),
    page ? givenPageFindings(path, page, known, trust.sha256) : {},
  );
}

/** @throws {UsageError} if it cannot be opened, or is not a bundle */
export async function filesOfBundle({ path, folder }: EvidenceFile): Promise<BundleFiles> {
  const files = await folder!.files().catch((error: Error) => {
    throw error instanceof UsageError ? new UsageError(`${path}: ${error.message}`) : error;
  });
  if (isBundle(files)) return files;
  throw new UsageError(`${path} contains no evidence: neither index.json nor the files of an operation`);
}

/**
 * Returns the events of a bundle's operations. The check of the bundle compares each with its statement, and refuses those
 * that cannot be read.
 * @throws {UsageError} if the bundle cannot be read
 */
export async function eventsOfBundle({ path, folder }: EvidenceFile): Promise<StatedEvent[]> {
  const events: StatedEvent[] = [];
  for (const [name, bytes] of Object.entries(await folder!.files())) {
    if (placeOf(name)?.kind !== 'event') continue;
    const { proven } = await checked(name, () => readEventDocument(parseUnambiguousBytes(bytes)));
    if (proven) events.push({ piece: `${path}/${name}`, event: proven, refusals: [] });
  }
  return events;
}
