import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ShownClaim } from '../core/verify/verdict-facts.js';
import { pythonPath } from '../support/prerequisites.js';
import type { GivenFiles } from './matrix-rows.js';

const PROGRAM = fileURLToPath(new URL('../interop/python-verifier', import.meta.url));

/** What the second verifier is told to trust: paths of key files, and pins. */
export interface PythonTrust {
  readonly log_keys: readonly string[];
  readonly issuer_keys: readonly string[];
  readonly issuer?: string;
}

/** Its answer; the members are those of `verify --json` as far as both have them. */
export interface PythonAnswer {
  readonly outcome: 'verified' | 'refused' | 'incomplete' | 'unreadable' | 'fault';
  readonly detail?: string;
  readonly claims?: readonly ShownClaim[];
  readonly contradictions?: readonly { readonly code: string; readonly piece?: string; readonly detail: string }[];
  readonly not_covered?: readonly {
    readonly piece: string;
    readonly members: readonly string[];
    readonly why: string;
  }[];
  readonly remarks?: readonly { readonly what: string }[];
}

/** The second verifier as one process that answers a line for a line. */
export interface PythonVerifier {
  /** Digests of the forms of a document, in the order in which they are tried. */
  formsOf(document: string): Promise<readonly (readonly [form: string, digest: string])[]>;
  judge(files: GivenFiles, trust: PythonTrust): Promise<PythonAnswer>;
  close(): Promise<void>;
}

export function startPythonVerifier(): PythonVerifier {
  const child: ChildProcessWithoutNullStreams = spawn(pythonPath ?? 'python3', ['-B', PROGRAM, '--serve']);
  const waiting: { resolve(answer: never): void; reject(error: Error): void }[] = [];
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk));
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line) as never));
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => {
      for (const { reject } of waiting.splice(0)) reject(new Error(`the Python verifier ended: ${complaint}`));
      resolve();
    });
  });
  const ask = <Answer>(question: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(`${JSON.stringify(question)}\n`);
    });
  return {
    formsOf: async (document) => (await ask<{ forms: [string, string][] }>({ document })).forms,
    judge(files, trust) {
      const texts = Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]);
      return ask<PythonAnswer>({ files: Object.fromEntries(texts), trust });
    },
    close: () => {
      child.stdin.end();
      return closed;
    },
  };
}
