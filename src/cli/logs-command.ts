import type { Command } from 'commander';
import type { ExplainedLog, LogRecord } from '../archivist/operator/manage-logs.js';
import { type ForkOptions, forkLogs, KEYS_LOG } from './fork-logs.js';
import { examples } from './help-examples.js';
import { answerAsOperator, type OperatorOptions } from './operator-answer.js';
import type { OperatorClient } from './operator-client.js';
import type { Terminal } from './terminal.js';

/** What a finding means, and what to do. */
const ADVICE: Readonly<Record<ExplainedLog['finding'], string>> = {
  database_older:
    'the database is older than what was published: stop the service and bring the newer database back. If it is lost for ever, run "vcon-archivist logs fork"',
  objects_older:
    'the object store lacks seals that were published: mount or restore the newer object store, then run "vcon-archivist logs resume"',
  objects_differ:
    'the database and the object store come from different histories: restore both from the same moment, then run "vcon-archivist logs resume"',
  consistent:
    'database and object store agree about the last seal. If the reason names the object store, run "vcon-archivist logs resume". If not, run "vcon-archivist audit" and restore a sound copy of the database that is not older',
};

function logLine({ identity, kind, leaves, seal_number, halted }: LogRecord): string {
  return `${identity}  ${kind}  ${leaves} leaves, seal ${seal_number}  (${halted === '' ? 'running' : 'HALTED'})`;
}

const place = ({ number, leaves }: ExplainedLog['database_seal']) =>
  number === 0 ? 'no seal' : leaves < 0 ? `seal ${number}, which cannot be read` : `seal ${number}, ${leaves} leaves`;

/** A log that runs in one line; a halted one with its evidence. */
function explained(log: LogRecord | ExplainedLog): string {
  if (!('finding' in log)) return logLine(log);
  const lines = [
    logLine(log),
    `  reason        ${log.halted}`,
    `  database      ${place(log.database_seal)}`,
    `  object store  ${place(log.object_store_seal)}`,
    `  what to do    ${advice(log)}`,
  ];
  return lines.join('\n');
}

async function list(client: OperatorClient) {
  const logs: (LogRecord | ExplainedLog)[] = [];
  for (let page: LogRecord[] | undefined; page === undefined || page.length > 0; ) {
    const last = logs.at(-1)?.identity;
    const after = last === undefined ? '' : `?after=${last.slice('logs/'.length)}`;
    page = (await client.get(`/logs${after}`))['logs'] as LogRecord[];
    logs.push(...page);
  }
  return logs;
}

async function list(client: OperatorClient) {
  const logs: (LogRecord | ExplainedLog)[] = [];
  for (const log of await everyLog(client)) logs.push(log.halted === '' ? log : await explain(client, log.identity));
  const halted = logs.filter((log) => log.halted !== '').length;
  const more = halted === 0 ? [] : ['See docs/operate/halted-log.md before you change anything.'];
  const text = [...logs.map(explained), `${logs.length} logs, ${halted} halted`, ...more].join('\n');
  return { document: { logs }, text };
}

async function explain(client: OperatorClient, identity: string): Promise<ExplainedLog> {
  return (await client.get(`/${identity}`)) as unknown as ExplainedLog;
}

async function resume(client: OperatorClient, log: string) {
  const id = encodeURIComponent(log.slice(log.lastIndexOf('/') + 1));
  const resumed = (await client.post(`/logs/${id}:resume`)) as unknown as ExplainedLog;
  return { document: resumed, text: logLine(resumed) };
}

/**
 * `logs` and `logs resume <log>`: lists the logs through the running service, explains each halted one with its evidence,
 * and resumes one after its cause is removed. Needs read access to KEYS_DIR. Exit code 1: the service refused; 2: the
 * command line or the configuration is invalid.
 */
export function addLogsCommand(program: Command, terminal: Terminal): void {
  const logs = program
    .command('logs')
    .description('list the logs, explain halted ones and resume them, as the operator')
    .option('--url <url>', 'base URL of the service; default PUBLIC_URL')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('vcon-archivist logs', 'vcon-archivist logs resume logs/<uuid>'))
    .action((options: OperatorOptions) => answerAsOperator(terminal, options, list));
  logs
    .command('resume <log>')
    .description('let a halted log go on, after its database and object store agree again')
    .addHelpText('after', examples('vcon-archivist logs resume logs/<uuid>'))
    .action((log: string, _options: OperatorOptions, command: Command) =>
      answerAsOperator(terminal, command.optsWithGlobals<OperatorOptions>(), (client) => resume(client, log)),
    );
}
