// npm run soak -- [--hours <number>] [--engine embedded|PostgreSQL] [--results <file>]
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '1' },
    engine: { type: 'string', default: '' },
    results: { type: 'string', default: 'soak-results.json' },
  },
});
if (!(Number(values.hours) > 0)) {
  console.error('error: --hours must be a number greater than 0');
  process.exit(2);
}
const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.soak.config.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    SOAK_HOURS: values.hours,
    SOAK_ENGINE: values.engine,
    SOAK_RESULTS: values.results,
    START_WITHIN_SECONDS: '600',
  },
});
child.once('exit', (code) => process.exit(code ?? 1));
