import { isBundle, verifyBundle } from '../core/bundle/verify-bundle.js';
import { type Verdict, verdictWithin } from '../core/verify/verdict.js';
import { nativeSha256 } from '../platform/native-sha256.js';
import { openBundle, readBundleFolder } from './evidence-bundle.js';
import { type EvidenceFile, kindOf, UsageError } from './evidence-file.js';
import type { GivenTrust } from './given-trust.js';

const STATEMENT = /(?:^|\/)transparent-statement\.cose$/;
const NO_EVIDENCE: readonly string[] = ['document', 'keys'];

/**
 * Checks a bundle, which is a zip or the folder that it was unpacked into.
 * @throws {UsageError} if it is not a bundle, cannot be read, or needs keys that were not given
 */
export async function bundleVerdict({ path, bytes }: EvidenceFile, trust: GivenTrust): Promise<Verdict> {
  const files = bytes.length === 0 ? await readBundleFolder(path) : openBundle(bytes);
  if (!isBundle(files))
    throw new UsageError(`${path} contains no evidence: neither index.json nor the files of an operation`);
  const { statementLog, tenancyLog, witnesses, quorum, witnessedLog } = trust;
  // Events that are about no vCon have no statement, and need no issuer's keys.
  const needsIssuers = trust.hasIssuers || Object.keys(files).some((name) => STATEMENT.test(name));
  const verdict = await verifyBundle(files, {
    logKeys: await trust.logKeys(),
    ...(needsIssuers ? await trust.issuers() : { issuerKeys: [] }),
    statementLog,
    tenancyLog,
    witnesses,
    quorum,
    witnessedLog,
    // A bundle's log files are megabytes.
    sha256: nativeSha256,
    isEvidence: (content) => !NO_EVIDENCE.includes(kindOf(content)),
  });
  return verdictWithin(path, verdict);
}
