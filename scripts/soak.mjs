import { spawn } from 'node:child_process';
import { readOptions, refuseOptions } from './read-options.mjs';

const USAGE = 'usage: npm run soak -- [--hours <number>] [--engine embedded|PostgreSQL] [--results <file>]';
const ENGINES = ['embedded', 'PostgreSQL'];

const { values } = readOptions(USAGE, {
  options: {
    hours: { type: 'string', default: '1' },
    engine: { type: 'string' },
    results: { type: 'string', default: 'soak-results.json' },
  },
});
if (!(Number(values.hours) > 0)) refuseOptions(USAGE, '--hours must be a number greater than 0');
if (values.engine !== undefined && !ENGINES.includes(values.engine))
  refuseOptions(USAGE, `--engine must be ${ENGINES.join(' or ')}`);
const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.soak.config.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    SOAK_HOURS: values.hours,
    SOAK_ENGINE: values.engine ?? '',
    SOAK_RESULTS: values.results,
    START_WITHIN_SECONDS: '600',
  },
});
child.once('exit', (code) => process.exit(code ?? 1));
