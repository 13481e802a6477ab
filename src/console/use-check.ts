import { useEffect, useState } from 'preact/hooks';
import type { CheckResult } from './check-evidence.js';
import { TEXTS } from './texts.js';

type Check = (tell: (done: string) => void) => Promise<CheckResult>;

/**
 * Runs a check again whenever one of its inputs changes. From the moment of the change until the new answer there is
 * progress, so that no answer counts for files or keys that it is not about.
 * @param check undefined as long as there is nothing to check
 */
export function useCheck(check: Check | undefined, inputs: readonly unknown[]) {
  const [answer, setAnswer] = useState<{ readonly result: CheckResult; readonly inputs: readonly unknown[] }>();
  const [progress, setProgress] = useState('');
  useEffect(() => {
    if (!check) return setAnswer(undefined);
    let isCurrent = true;
    setProgress('');
    check((done) => isCurrent && setProgress(done))
      .catch((error: unknown): CheckResult => {
        console.error(error);
        return { problem: 'no_answer', detail: TEXTS.failed, files: [] };
      })
      .then((result) => {
        if (isCurrent) setAnswer({ result, inputs });
      });
    return () => {
      isCurrent = false;
    };
  }, inputs as unknown[]);
  const isCurrent = answer?.inputs.every((input, at) => input === inputs[at]);
  return check ? { result: answer?.result, progress: isCurrent ? undefined : progress } : {};
}
