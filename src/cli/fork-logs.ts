import { createInterface } from 'node:readline/promises';
import type { ChainRecord } from '../archivist/operator/chain-operator-routes.js';
import type { ExplainedLog, LogRecord } from '../archivist/operator/manage-logs.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { counted } from './counted.js';
import type { OperatorClient } from './operator-client.js';
import type { Terminal } from './terminal.js';

/** What the operator gives to `logs fork`. */
export interface ForkOptions {
  readonly all?: boolean;
  readonly reason: string;
  /** The confirmation, for scripts; otherwise it is read from the standard input. */
  readonly confirm?: string;
}

/** The kind of the log of key manifests. */
export const KEYS_LOG = 'key manifests';
const CHAIN = 'chain';

const WHAT_IT_MEANS = `A fork is for ever:
  - What only the lost database had stays lost: events, users, settings. The object store has no events.
  - Each log below goes on under a new name. Its first new entry says, signed, which log it continues, its last seal, and
    your reason. Everybody can read that. The chain goes on after a block that says the same.
  - Receipts that were issued stay valid. Everything that this database has stays in the logs, at the same place.
If there is any chance to bring the newer database back, do that instead.`.split('\n');

/** A seal of a log, and how many leaves are under it. */
export const sealText = ({ number, leaves }: ExplainedLog['database_seal']): string =>
  number === 0
    ? 'no seal'
    : `seal ${number}, ${leaves < 0 ? 'which cannot be read' : counted(leaves, 'leaf', 'leaves')}`;

const placeText = (place: ExplainedLog['database_seal']): string => `${place.log}, ${sealText(place)}`;

/** Another generation of the log began at an earlier leaf, and a difference of sizes says nothing. */
function lostText({ database_seal: before, object_store_seal: lost }: ExplainedLog): string {
  if (lost.log !== before.log) return `the entries that only ${lost.log} has`;
  return lost.leaves < 0 ? 'unknown' : counted(lost.leaves - before.leaves, 'entry', 'entries');
}

function evidence(log: ExplainedLog): string[] {
  return [
    `${log.name}  (${log.kind})`,
    `  database      ${placeText(log.database_seal)}`,
    `  object store  ${placeText(log.object_store_seal)}`,
    `  lost          ${lostText(log)}`,
  ];
}

function chainEvidence({ database_block, object_store_block }: ChainRecord): string[] {
  return [
    'chain',
    `  database      block ${database_block.number}, ${database_block.hash}`,
    `  object store  block ${object_store_block.number}, ${object_store_block.hash}`,
    `  lost          ${counted(object_store_block.number - database_block.number, 'block')}`,
  ];
}

/** The log of this name or identity. @throws {UsageError} if there is none */
export function namedLog(logs: readonly LogRecord[], log: string): LogRecord {
  const id = log.slice(log.lastIndexOf('/') + 1);
  const named = logs.find(({ identity, name }) => name === log || identity === `logs/${id}`);
  if (!named) throw new UsageError(`there is no log ${log}: see "vcon-archivist logs"`);
  return named;
}

/** The logs to fork. The keys log is never among them: its entries are in the object store, in full. */
async function chosenLogs(logs: readonly LogRecord[], client: OperatorClient, log: string | undefined) {
  const halted = logs.filter((each) => each.halted !== '');
  const wanted = log === undefined ? halted : [namedLog(logs, log)];
  const keysLog = logs.find(({ kind, halted: reason }) => kind === KEYS_LOG && reason !== '');
  if (keysLog)
    throw new UsageError(
      `the keys log is halted, so that nothing can be forked: run "vcon-archivist logs resume ${keysLog.identity}" first`,
    );
  const explained: ExplainedLog[] = [];
  for (const { identity } of wanted) explained.push((await client.get(`/${identity}`)) as unknown as ExplainedLog);
  const others = explained.filter(({ finding }) => finding !== 'database_older');
  if (log === undefined && others.length > 0)
    throw new UsageError(
      `${others.map(({ name }) => name).join(', ')}: halted for another reason, which must be settled first. See "vcon-archivist logs"`,
    );
  return explained;
}

/** What is forked. */
interface Chosen {
  readonly logs: readonly ExplainedLog[];
  readonly chain: ChainRecord | undefined;
}

async function chosen(client: OperatorClient, logs: readonly LogRecord[], log: string | undefined): Promise<Chosen> {
  const isChain = log === CHAIN;
  const chain = log === undefined || isChain ? ((await client.get(`/${CHAIN}`)) as unknown as ChainRecord) : undefined;
  if (isChain && chain?.finding !== 'database_older')
    throw new UsageError(
      'the chain is not behind the object store: there is nothing to fork. See "vcon-archivist logs"',
    );
  return {
    logs: isChain ? [] : await chosenLogs(logs, client, log),
    chain: chain?.finding === 'database_older' ? chain : undefined,
  };
}

/** The text that a person must type: the name of what is forked, or how many logs. */
function phraseFor({ logs, chain }: Chosen, { all }: ForkOptions): string {
  if (!all) return logs[0]?.name ?? CHAIN;
  const parts = [...(logs.length > 0 ? [counted(logs.length, 'log')] : []), ...(chain ? ['the chain'] : [])];
  return `fork ${parts.join(' and ')}`;
}

async function typed(terminal: Terminal, phrase: string): Promise<string> {
  terminal.complain(`Type "${phrase}" to go on:`);
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line.trim();
    return '';
  } finally {
    lines.close();
  }
}

/**
 * Forks one halted log, the chain, or all that is halted, after a typed confirmation: shows the evidence about each before,
 * and what it is called afterwards. The chain comes last: the same call goes on after a failure.
 * @param logs as the service lists them @param log identity, id or name, or `chain`; undefined: all that is halted
 * @throws {UsageError} if the confirmation differs, or there is nothing to fork
 */
export async function forkLogs(
  client: OperatorClient,
  terminal: Terminal,
  logs: readonly LogRecord[],
  log: string | undefined,
  options: ForkOptions,
): Promise<{ readonly document: object; readonly lines: readonly string[] }> {
  if ((log === undefined) !== (options.all === true)) throw new UsageError('give one log, or "chain", or --all');
  const wanted = await chosen(client, logs, log);
  if (wanted.logs.length === 0 && !wanted.chain) throw new UsageError('nothing is halted: there is nothing to fork');
  const shown = [...wanted.logs.flatMap(evidence), ...(wanted.chain ? chainEvidence(wanted.chain) : [])];
  terminal.complain([...WHAT_IT_MEANS, ...shown]);
  const phrase = phraseFor(wanted, options);
  if ((options.confirm ?? (await typed(terminal, phrase))) !== phrase)
    throw new UsageError(`not confirmed: "${phrase}" was expected. Nothing was changed`);
  const { reason } = options;
  const forked: ExplainedLog[] = [];
  for (const { identity, name } of wanted.logs)
    forked.push((await client.post(`/${identity}:fork`, { confirm: name, reason })) as unknown as ExplainedLog);
  const lines = forked.map(({ name }, place) => `${wanted.logs[place]!.name} goes on as ${name}`);
  if (!wanted.chain) return { document: { logs: forked }, lines };
  const chain = (await client.post(`/${CHAIN}:fork`, { confirm: CHAIN, reason })) as unknown as ChainRecord;
  lines.push(
    `chain: block ${chain.database_block.number} follows block ${wanted.chain.database_block.number}, and names the lost blocks`,
  );
  return { document: { logs: forked, chain }, lines };
}
