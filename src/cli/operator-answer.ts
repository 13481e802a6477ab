import { UsageError } from '../core/evidence/usage-error.js';
import { ConfigError, parseConfig } from '../service/config/config.js';
import { type OperatorClient, OperatorRefused, openOperatorClient } from './operator-client.js';
import { EXIT_USAGE, jsonLines, type Terminal } from './terminal.js';

const EXIT_NOT_DONE = 1;

/** Options of every operator command. */
export interface OperatorOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** The work of one command; resolves with its answer, for a machine and for a person. */
type OperatorWork = (
  client: OperatorClient,
) => Promise<{ readonly document: object; readonly lines: readonly string[] }>;

/** Runs one operator command through the running service and prints its answer or the error. */
export async function answerAsOperator(
  terminal: Terminal,
  { url, json }: OperatorOptions,
  work: OperatorWork,
): Promise<void> {
  try {
    const { publicUrl, keysDir } = parseConfig(process.env);
    const { document, lines } = await work(await openOperatorClient((url ?? publicUrl).replace(/\/+$/, ''), keysDir));
    terminal.print(json ? jsonLines(document) : lines);
  } catch (error) {
    const usage = error instanceof ConfigError || error instanceof UsageError;
    if (!(usage || error instanceof OperatorRefused)) throw error;
    if (json) terminal.print(jsonLines({ error: error.message }));
    else terminal.complain(`error: ${error.message}`);
    terminal.exitCode = usage ? EXIT_USAGE : EXIT_NOT_DONE;
  }
}
