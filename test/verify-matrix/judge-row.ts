import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownClaim } from '../core/verify/verdict-facts.js';
import { commandLine } from '../support/command-line.js';
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
}

const OUTCOMES = ['verified', 'refused', 'unreadable', 'incomplete'] as const;

/** Both verifiers over files in a folder of their own. */
export interface Judges {
  judge(files: GivenFiles): Promise<{ readonly ours: OurAnswer; readonly python: PythonAnswer | undefined }>;
  remove(): void;
}

export function judgesOf(genuine: GenuineEvidence, python: PythonVerifier | undefined): Judges {
  const folder = mkdtempSync(join(tmpdir(), 'splice-matrix-'));
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const logKeys = write('log-keys.cbor', genuine.logKeys);
  const issuerKeys = genuine.issuerKeys.map((bytes, at) => write(`issuer-${at}.json`, bytes));
  const options = ['--json', '--log-keys', logKeys, ...issuerKeys.flatMap((path) => ['--issuer-keys', path])];
  const trust = { log_keys: [logKeys], issuer_keys: issuerKeys };
  return {
    async judge(files) {
      const paths = Object.entries(files).map(([name, bytes]) => write(name, bytes));
      const [ours, theirs] = await Promise.all([ourAnswer([...options, ...paths]), python?.judge(paths, trust)]);
      return { ours, python: theirs };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

async function ourAnswer(options: readonly string[]): Promise<OurAnswer> {
  const { said, exitCode } = await commandLine(['verify', ...options]);
  const outcome = OUTCOMES[exitCode as 0 | 1 | 2 | 3];
  return { claims: [], contradictions: [], not_covered: [], ...(JSON.parse(said) as object), outcome };
}
