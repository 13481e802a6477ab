import type { Command } from 'commander';
import type { ChainRecord } from '../archivist/operator/chain-operator-routes.js';
import type { ExplainedLog, LogRecord } from '../archivist/operator/manage-logs.js';
import { counted } from './counted.js';
import { type ForkOptions, forkLogs, KEYS_LOG, namedLog, sealText } from './fork-logs.js';
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
  return `${identity}  ${kind}  ${counted(leaves, 'leaf', 'leaves')}, seal no. ${seal_number}  (${halted === '' ? 'running' : 'HALTED'})`;
}

/** A log that runs in one line; a halted one with its evidence. */
function explained(log: LogRecord | ExplainedLog): string[] {
  if (!('finding' in log)) return [logLine(log)];
  return [
    logLine(log),
    `  reason        ${log.halted}`,
    `  database      ${sealText(log.database_seal)}`,
    `  object store  ${sealText(log.object_store_seal)}`,
    `  what to do    ${advice(log)}`,
  ];
}

const KEYS_LOG_BEHIND =
  'the database has lost key manifests that were published: run "vcon-archivist logs resume" for this log, which brings them back from the object store. Then look at the other logs';

/** The reason that `restore` gives with --halt-logs (restore/published-since.ts). `logs resume` lifts no such halt. */
const RESTORED = /^restored from the copy of /;
const RESTORED_COPY =
  'if nothing was published after this copy, restore it again into an empty place with --nothing-published-since. If something was, bring the newer database back, or keep this one for reading: see docs/operate/backup.md';

function advice({ kind, finding, halted }: ExplainedLog): string {
  if (finding === 'consistent' && RESTORED.test(halted)) return RESTORED_COPY;
  return kind === KEYS_LOG && finding === 'database_older' ? KEYS_LOG_BEHIND : ADVICE[finding];
}

const CHAIN_ADVICE: Readonly<Record<ChainRecord['finding'], string>> = {
  database_older:
    'the database is older than the blocks in the object store: no block is made. Bring the newer database back. If it is lost for ever, run "vcon-archivist logs fork chain"',
  objects_differ:
    'the database and the object store come from different histories: no block is made. Restore both from the same moment',
  keys_log_halted:
    'the keys log is halted, so that published blocks may be lost: no block is made. Do what is said for the keys log',
  consistent: '',
};

const blockText = ({ number, hash }: ChainRecord['database_block']) => `block ${number}, ${hash}`;

/** A chain that runs in one line; one that does not with its evidence. */
function explainedChain({ finding, database_block, object_store_block }: ChainRecord): string[] {
  if (finding === 'consistent') return [`chain  block ${database_block.number}  (running)`];
  return [
    `chain  block ${database_block.number}  (HALTED)`,
    `  database      ${blockText(database_block)}`,
    `  object store  ${blockText(object_store_block)}`,
    `  what to do    ${CHAIN_ADVICE[finding]}`,
  ];
}

async function everyLog(client: OperatorClient): Promise<LogRecord[]> {
  const logs: LogRecord[] = [];
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
  const chain = (await client.get('/chain')) as unknown as ChainRecord;
  const sound = halted === 0 && chain.finding === 'consistent';
  const more = sound ? [] : ['See docs/operate/halted-log.md before you change anything.'];
  const lines = [
    ...logs.flatMap(explained),
    ...explainedChain(chain),
    `${counted(logs.length, 'log')}, ${halted} halted`,
    ...more,
  ];
  return { document: { logs, chain }, lines };
}

async function explain(client: OperatorClient, identity: string): Promise<ExplainedLog> {
  return (await client.get(`/${identity}`)) as unknown as ExplainedLog;
}

async function resume(client: OperatorClient, log: string) {
  const { identity } = namedLog(await everyLog(client), log);
  const resumed = (await client.post(`/${identity}:resume`)) as unknown as ExplainedLog;
  return { document: resumed, lines: [logLine(resumed)] };
}

/**
 * `logs`, `logs resume <log>` and `logs fork <log>`: lists the logs through the running service, explains each halted one
 * with its evidence, resumes one after its cause is removed, and forks one openly if the newer database is lost. Needs
 * read access to KEYS_DIR. Exit code 1: the service refused; 2: the command line or the configuration is invalid.
 */
export function addLogsCommand(program: Command, terminal: Terminal): void {
  const logs = program
    .command('logs')
    .description('list the logs, explain halted ones, resume or fork them, as the operator')
    .option('--url <url>', 'base URL of the service; default PUBLIC_URL')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('vcon-archivist logs', 'vcon-archivist logs resume logs/<uuid>'))
    .action((options: OperatorOptions) => answerAsOperator(terminal, options, list));
  logs
    .command('resume <log>')
    .description(
      'let a halted log go on, after its database and object store agree again; bring back lost key manifests',
    )
    .addHelpText('after', examples('vcon-archivist logs resume logs/<uuid>'))
    .action((log: string, _options: OperatorOptions, command: Command) =>
      answerAsOperator(terminal, command.optsWithGlobals<OperatorOptions>(), (client) => resume(client, log)),
    );
  logs
    .command('fork [log]')
    .description('continue a halted log or the chain openly as a new one, if the newer database is lost for ever')
    .requiredOption('--reason <text>', 'why; published in the first entry of the new log')
    .option('--all', 'every halted log, and the chain if it is halted')
    .option(
      '--confirm <text>',
      'the confirmation, instead of typing it: the name of the log, "chain", or "fork <number> logs and the chain"',
    )
    .addHelpText(
      'after',
      examples(
        'vcon-archivist logs fork logs/<uuid> --reason "the disk of the database is lost"',
        'vcon-archivist logs fork --all --reason "restored from the backup of 3 May"',
        'vcon-archivist logs fork chain --reason "restored from the backup of 3 May"',
      ),
    )
    .action((log: string | undefined, _options: ForkOptions, command: Command) => {
      const options = command.optsWithGlobals<OperatorOptions & ForkOptions>();
      return answerAsOperator(terminal, options, async (client) =>
        forkLogs(client, terminal, await everyLog(client), log, options),
      );
    });
}
