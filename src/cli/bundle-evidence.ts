import { createVerdict, type Verdict, verdictWithin } from '../core/verify/verdict.js';
import {
  examineTransparentStatement,
  type TransparentStatementTrust,
} from '../core/verify/verify-transparent-statement.js';
import { openBundle } from './evidence-bundle.js';
import type { EvidenceFile } from './evidence-file.js';
import { type WitnessTrust, witnessFindings } from './witness-evidence.js';

/** Checks every statement in a bundle, and what witnesses vouched for. @throws {UsageError} as `openBundle` */
export async function bundleVerdict(
  { path, bytes }: EvidenceFile,
  trust: TransparentStatementTrust,
  witnesses: WitnessTrust,
): Promise<Verdict> {
  const verdicts: Verdict[] = [];
  for (const { name, bytes: statement, witness } of openBundle(bytes)) {
    const seen = await witnessFindings(statement, witness, witnesses);
    verdicts.push(verdictWithin(name, createVerdict(await examineTransparentStatement(statement, trust), seen)));
  }
  return verdictWithin(path, createVerdict(...verdicts));
}
