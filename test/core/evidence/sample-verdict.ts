import { evidenceFile } from '../../../src/core/evidence/evidence-file.js';
import { verifyEvidence } from '../../../src/core/evidence/verify-evidence.js';
import type { Verdict } from '../../../src/core/verify/verdict.js';
import { nodeVerify } from '../../../src/platform/keys/node-verify.js';
import { sampleSigners } from '../verify/sample-transparent-statement.js';

/** The verdict under a pinned issuer, with the keys of the samples. */
export async function sampleVerdict(
  files: Readonly<Record<string, Uint8Array>>,
  issuer: string,
  hasIssuers = true,
): Promise<Verdict> {
  const issuerKeys = [sampleSigners.issuer.publicKey, sampleSigners.stranger.publicKey];
  const logKeys = [sampleSigners.sealer.publicKey, sampleSigners.statementLog.publicKey];
  const given = Object.entries(files).map(([path, bytes]) => evidenceFile(path, bytes, async () => undefined));
  const { verdict } = await verifyEvidence(await Promise.all(given), {
    ...{ logKeys: async () => logKeys, issuers: async () => ({ issuerKeys, issuer }), issuer, hasIssuers },
    ...{ statementLog: {}, tenancyLog: {}, witnesses: [], quorum: 0, witnessedLog: undefined, statementOnly: false },
    verifySignature: nodeVerify,
  });
  return verdict;
}
