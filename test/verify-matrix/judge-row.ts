import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { givenTrust } from '../../src/cli/verify-trust.js';
import { readKeyDocument } from '../../src/core/cose/key-document.js';
import { evidenceFile } from '../../src/core/evidence/evidence-file.js';
import type { GivenTrust } from '../../src/core/evidence/given-trust.js';
import { UsageError } from '../../src/core/evidence/usage-error.js';
import { verifyEvidence } from '../../src/core/evidence/verify-evidence.js';
import { verdictDocument } from '../../src/core/verify/verdict.js';
import type { ShownClaim } from '../core/verify/verdict-facts.js';
import type { GenuineEvidence } from './evidence-sets.js';
import type { GivenFiles } from './matrix-rows.js';
import type { PythonAnswer, PythonVerifier } from './python-verifier.js';

/** What `verify --json` answers (docs/formats/verdict.md), as far as the matrix reads it. */
export interface OurAnswer {
  readonly outcome: 'verified' | 'refused' | 'incomplete' | 'unreadable';
  readonly claims: readonly ShownClaim[];
  readonly contradictions: readonly { readonly code: string; readonly piece: string; readonly detail: string }[];
  readonly not_covered: readonly {
    readonly piece: string;
    readonly members: readonly string[];
    readonly why: string;
  }[];
  readonly missing: readonly { readonly what: string }[];
  readonly remarks: readonly { readonly what: string }[];
}

interface Answers {
  readonly ours: OurAnswer;
  readonly python: PythonAnswer | undefined;
}

/** Both verifiers; each reads its keys once. */
export interface Judges {
  /** The same files have the same answers: partners of a mixture often have a part in common. */
  judge(files: GivenFiles): Promise<Answers>;
  remove(): void;
}

export function judgesOf(genuine: GenuineEvidence, python: PythonVerifier | undefined): Judges {
  const folder = mkdtempSync(join(tmpdir(), 'splice-matrix-'));
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const theirTrust = {
    log_keys: [write('log-keys.cbor', genuine.logKeys)],
    issuer_keys: genuine.issuerKeys.map((bytes, at) => write(`issuer-${at}.json`, bytes)),
  };
  const ourTrust = trustOf(genuine);
  const known = new Map<string, Answers>();
  return {
    async judge(files) {
      const name = digestOf(files);
      const before = known.get(name);
      if (before) return before;
      const [ours, theirs] = await Promise.all([ourAnswer(files, ourTrust), python?.judge(files, theirTrust)]);
      const answers = { ours, python: theirs };
      known.set(name, answers);
      return answers;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function digestOf(files: GivenFiles): string {
  const hash = createHash('sha256');
  for (const [name, bytes] of Object.entries(files)) hash.update(`${name} ${bytes.length} `).update(bytes);
  return hash.digest('hex');
}

/** As `verify --log-keys … --issuer-keys …` trusts them. */
function trustOf(genuine: GenuineEvidence): GivenTrust {
  const logKeys = readKeyDocument(genuine.logKeys);
  const issuerKeys = genuine.issuerKeys.flatMap((bytes) => readKeyDocument(bytes));
  const { knownPages, ...expected } = givenTrust({}, undefined);
  const pages = knownPages?.();
  return {
    ...expected,
    ...(pages && { knownPages: () => pages }),
    hasIssuers: true,
    logKeys: async () => logKeys,
    issuers: async () => ({ issuerKeys }),
  };
}

async function ourAnswer(given: GivenFiles, trust: GivenTrust): Promise<OurAnswer> {
  try {
    const files = await Promise.all(Object.entries(given).map(([name, bytes]) => evidenceFile(name, bytes)));
    const { verdict } = await verifyEvidence(files, trust);
    return JSON.parse(JSON.stringify(verdictDocument(verdict))) as OurAnswer;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { outcome: 'unreadable', claims: [], contradictions: [], not_covered: [], missing: [], remarks: [] };
  }
}
