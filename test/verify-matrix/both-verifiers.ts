import { afterAll, expect } from 'vitest';
import { verifyRig } from '../cli/verify-rig.js';
import { hasPythonCryptography } from '../support/prerequisites.js';
import type { GivenFiles } from './matrix-rows.js';
import { startPythonVerifier } from './python-verifier.js';

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
     * @param issuer the pin, where there is one
     */
    async judged<Answer>(files: GivenFiles, part: (answer: Answer) => unknown, issuer?: string): Promise<Answer> {
      const paths = Object.entries(files).map(([path, bytes]) => rig.file(path, bytes));
      const pin = issuer === undefined ? {} : { issuer };
      const { out } = await rig.verify(
        '--json',
        ...Object.entries(pin).flatMap(([key, value]) => [`--${key}`, value]),
        ...paths,
      );
      const ours = JSON.parse(out) as Answer;
      if (python) {
        const theirs = await python.judge(files, { ...rig.trust, ...pin });
        expect(part(theirs as unknown as Answer)).toEqual(part(ours));
      }
      return ours;
    },
  };
}
