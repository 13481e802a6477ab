import { parseArgs } from 'node:util';

/**
 * Returns the options and the other arguments of a script. `--help` prints the usage and ends the process with 0, a wrong
 * option with 2.
 * @param config as of `parseArgs`
 */
export function readOptions(usage, config = {}) {
  try {
    const read = parseArgs({ ...config, options: { ...config.options, help: { type: 'boolean' } } });
    if (!read.values.help) return read;
  } catch (error) {
    refuseOptions(usage, error.message);
  }
  console.log(usage);
  process.exit(0);
}

/** Says what is wrong with the options, prints the usage, and ends the process with 2. */
export function refuseOptions(usage, reason) {
  console.error(`error: ${reason}\n${usage}`);
  process.exit(2);
}
