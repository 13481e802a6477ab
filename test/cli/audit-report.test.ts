import { expect, it } from 'vitest';
import { auditReport } from '../../src/cli/audit-report.js';

const log = (name: string) => ({ name, tenantId: name, logId: name, leaves: 4n, seals: 1n, from: 0n });
const run = { began: undefined, seconds: 1, rootKnown: true };

it('lists the faults of the logs in the order of the logs, however they were found, and then the others', () => {
  const report = auditReport(
    [log('log/a'), log('log/b')],
    [
      { log: 'chain', what: 'z' },
      { log: 'log/b', what: 'y' },
      { log: 'log/a', what: 'x' },
      { log: 'log/b', what: 'w' },
    ],
    run,
  );
  expect(report.faults).toEqual(['log/a: x', 'log/b: y', 'log/b: w', 'chain: z']);
  expect(report.logs.map(({ faults }) => faults)).toEqual([1, 2]);
  expect(report.sound).toBe(false);
});
