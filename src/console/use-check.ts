import { useEffect, useState } from 'preact/hooks';
import type { CheckResult } from './check-evidence.js';
import { TEXTS } from './texts.js';

type Check = (tell: (done: string) => void) => Promise<CheckResult>;

/**
 * Runs a check again whenever one of its inputs changes; only the newest answer is shown.
 * @param check undefined as long as there is nothing to check
 */
export function useCheck(check: Check | undefined, inputs: readonly unknown[]) {
  const [result, setResult] = useState<CheckResult | undefined>();
  const [progress, setProgress] = useState<string | undefined>();
  useEffect(() => {
    if (!check) {
      setResult(undefined);
      setProgress(undefined);
      return undefined;
    }
    let isCurrent = true;
    setProgress('');
    check((done) => isCurrent && setProgress(done))
      .catch((error: unknown): CheckResult => {
        console.error(error);
        return { problem: 'not_evidence', detail: TEXTS.failed, files: [] };
      })
      .then((found) => {
        if (!isCurrent) return;
        setResult(found);
        setProgress(undefined);
      });
    return () => {
      isCurrent = false;
    };
  }, inputs as unknown[]);
  return { result, progress };
}
