import { afterAll, expect } from 'vitest';
import { verifyRig } from '../cli/verify-rig.js';
import { commandLine } from '../support/command-line.js';
import { hasPythonCryptography } from '../support/prerequisites.js';
import type { GivenFiles } from './matrix-rows.js';
import { type PythonTrust, startPythonVerifier } from './python-verifier.js';

/** The same trust as options of `verify`. */
function optionsOf(trust: PythonTrust): string[] {
  return Object.entries(trust).flatMap(([name, values]) =>
    [values].flat().flatMap((value: string) => [`--${name.replace('_', '-')}`, value]),
  );
}

/** The command line and the second verifier, asked about the same files with the same keys. */
export function bothVerifiers(name: string) {
  const rig = verifyRig(name);
  const python = hasPythonCryptography ? startPythonVerifier() : undefined;
  afterAll(async () => {
    await python?.close();
    rig.remove();
  });
  return {
    rig,
    /**
     * Resolves with the answer of the command line.
     * @param part what of an answer both verifiers must say alike; the second one has only some members of `verify --json`
     * @param given keys or a pin, where they are not those of the sample log and issuer
     */
    async judged<Answer>(
      files: GivenFiles,
      part: (answer: Answer) => unknown,
      given: Partial<PythonTrust> = {},
    ): Promise<Answer> {
      const paths = Object.entries(files).map(([path, bytes]) => rig.file(path, bytes));
      const trust = { ...rig.trust, ...given };
      const { out } = await commandLine(['verify', '--json', ...optionsOf(trust), ...paths]);
      const ours = JSON.parse(out) as Answer;
      if (python) {
        const theirs = await python.judge(files, trust);
        expect(part(theirs as unknown as Answer)).toEqual(part(ours));
      }
      return ours;
    },
  };
}
