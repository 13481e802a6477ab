import type { Reporter } from 'vitest/node';
import { notRun } from './prerequisites.js';

/** Says last what was not run and why; nothing when everything was. */
export default class NotRunReporter implements Reporter {
  onTestRunEnd(): void {
    const lines = notRun();
    if (lines.length === 0) return;
    // After the summary, which is written within the same turn.
    setImmediate(() => process.stdout.write(`Not run:\n${lines.map((line) => `  ${line}\n`).join('')}`));
  }
}
