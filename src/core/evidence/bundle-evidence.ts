import { isBundle, verifyBundle } from '../bundle/verify-bundle.js';
import { createVerdict, type Verdict, verdictWithin } from '../verify/verdict.js';
import type { EvidenceFile } from './evidence-file.js';
import { kindOf } from './evidence-kind.js';
import type { GivenTrust } from './given-trust.js';
import { pageFindings } from './page-evidence.js';
import { UsageError } from './usage-error.js';

const STATEMENT = /(?:^|\/)transparent-statement\.cose$/;
const NO_EVIDENCE: readonly string[] = ['document', 'keys'];

/**
 * Checks a bundle, which is a zip or the folder that it was unpacked into.
 * @throws {UsageError} if it is not a bundle, cannot be read, or needs keys that were not given
 */
export async function bundleVerdict({ path, folder }: EvidenceFile, trust: GivenTrust): Promise<Verdict> {
  const files = await folder!.files();
  if (!isBundle(files))
    throw new UsageError(`${path} contains no evidence: neither index.json nor the files of an operation`);
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
    isEvidence: (content) => !NO_EVIDENCE.includes(kindOf(content)),
    isPart: folder!.isPart === true,
  });
  const page = await pageFindings(files, await trust.knownPages?.(), trust.sha256);
  return verdictWithin(path, createVerdict(verdict, page));
}
