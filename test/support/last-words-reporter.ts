import type { Reporter, TestCase } from 'vitest/node';
import { notRun } from './prerequisites.js';

const LINES = 4;

const list = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** Says last what a green run hides: which tests passed only at a second attempt, and what was not run and why. */
export default class LastWordsReporter implements Reporter {
  readonly #unsteady: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    // The first line alone often only introduces the fault.
    const faults = test.result().errors?.map(({ message }) => message.split(/\s*\n\s*/, LINES).join(' ')) ?? [];
    this.#unsteady.push(`${test.module.relativeModuleId}: ${test.fullName} (${faults.join('; ')})`);
  }

  onTestRunEnd(): void {
    const words = list('Passed only at a second attempt:', this.#unsteady) + list('Not run:', notRun());
    // After the summary, which is written within the same turn.
    if (words !== '') setImmediate(() => process.stdout.write(words));
  }
}
