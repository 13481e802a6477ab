import type { Command } from 'commander';
import { pino } from 'pino';
import { dropOperation } from '../../../plugins/operator/drop-operation.js';
import { showOperation } from '../../../plugins/operator/kept-operation.js';
import { OperatorError } from '../../../plugins/operator/operator-error.js';
import { queueInventory } from '../../../plugins/operator/queue-inventory.js';
import { replayDeadLetters, replayOperation } from '../../../plugins/operator/replay-operation.js';
import {
  isSetAsideId,
  listSetAside,
  replaySetAside,
  type SetAsidePlaces,
} from '../../../plugins/operator/set-aside.js';
import { spoolPlace } from '../../../plugins/operator/spool-place.js';
import { systemClock } from '../../platform/clock.js';
import { ConfigError, parseConfig } from '../../platform/config.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { EXIT_USAGE, type Terminal } from '../terminal.js';
import { openOperatorQueue } from './open-operator-queue.js';
import { inventoryText, operationText } from './queue-text.js';

/** Exit code for what was understood and could not be done. */
const EXIT_NOT_DONE = 1;
const LISTED = 20;
const MAX_LISTED = 1000;

class UsageError extends Error {}

/** What a subcommand has to say, for a machine and for a person. */
interface Answer {
  readonly document: object;
  readonly text: string;
}

type Work = (places: SetAsidePlaces) => Promise<Answer>;

async function onQueue(work: Work): Promise<Answer> {
  const config = parseConfig(process.env);
  // Standard output holds the answer alone.
  const queue = await openOperatorQueue(config, pino({ level: 'silent' })).catch((error: unknown) => {
    throw error instanceof OperatorError ? new UsageError(error.message) : error;
  });
  try {
    const { conserverRedisUrl: url, stream } = config.plugin;
    const conserver = url === undefined ? undefined : { url, stream };
    return await work({ backend: queue.backend, spool: spoolPlace(config.dataDir), conserver });
  } finally {
    await queue.close();
  }
}

async function answer(terminal: Terminal, json: boolean, work: Work): Promise<void> {
  try {
    const { document, text } = await onQueue(work);
    terminal.print(json ? JSON.stringify(document, null, 2) : text);
  } catch (error) {
    const usage = error instanceof UsageError || error instanceof ConfigError;
    if (!usage && !(error instanceof OperatorError)) throw error;
    if (json) terminal.print(JSON.stringify({ error: error.message }, null, 2));
    else terminal.complain(`error: ${error.message}`);
    terminal.exitCode = usage ? EXIT_USAGE : EXIT_NOT_DONE;
  }
}

function listed(limit: string): number {
  if (!/^\d{1,4}$/.test(limit) || Number(limit) > MAX_LISTED)
    throw new UsageError(`--limit must be a number up to ${MAX_LISTED}`);
  return Number(limit);
}

async function inventory(places: SetAsidePlaces, limit: string): Promise<Answer> {
  const document = await queueInventory(places, systemClock, listed(limit));
  return { document, text: inventoryText(document) };
}

async function show(backend: QueueBackend, job: string): Promise<Answer> {
  const document = await showOperation(backend, job);
  return { document, text: operationText(document) };
}

async function replay(places: SetAsidePlaces, job: string | undefined, all: boolean): Promise<Answer> {
  const { backend } = places;
  if ((job === undefined) !== all) throw new UsageError('give one job, or --all for every dead letter');
  if (job === undefined) {
    const letters = await replayDeadLetters(backend);
    const { setAside } = await listSetAside(places, systemClock.now(), MAX_LISTED);
    for (const { id } of setAside) await replaySetAside(places, id);
    const replayed = letters + setAside.length;
    return { document: { replayed }, text: `${replayed} dead letters are on their way again.` };
  }
  if (isSetAsideId(job)) await replaySetAside(places, job);
  else await replayOperation(backend, job);
  return { document: { replayed: 1, job }, text: `Job ${job} is on its way.` };
}

async function drop(backend: QueueBackend, job: string, reason: string): Promise<Answer> {
  const document = await dropOperation(backend, systemClock, job, reason);
  return { document, text: `Dropped. The log will say so: job ${document.record} delivers the record.` };
}

/**
 * `queue`: what the conserver plugin keeps for delivery, and what to do with dead letters; on the queue that the
 * environment names. Exit code 1 when it cannot be done, 2 when the command line or the configuration is at fault.
 */
export function addQueueCommand(program: Command, terminal: Terminal): void {
  const queue = program
    .command('queue')
    .description('show what waits for delivery, the dead letters, and what is set aside');
  const json = () => queue.opts<{ json?: boolean }>().json === true;
  const run = (work: Work) => answer(terminal, json(), work);
  queue
    .option('--json', 'print one JSON document; goes with every subcommand')
    .option('--limit <n>', 'dead letters to list', String(LISTED))
    .action((options: { limit: string }) => run((places) => inventory(places, options.limit)));
  queue
    .command('show')
    .description('show one operation with all that is kept of it')
    .argument('<job>')
    .action((job: string) => run(({ backend }) => show(backend, job)));
  queue
    .command('replay')
    .description(
      'have a dead letter delivered again, a waiting job now, or what is set aside tried again; makes no second event',
    )
    .argument('[job]', 'of the queue, or an id under "set aside"')
    .option('--all', 'every dead letter, and all that is set aside')
    .action((job: string | undefined, options: { all?: boolean }) =>
      run((places) => replay(places, job, options.all === true)),
    );
  queue
    .command('drop')
    .description('give up a dead letter; the drop and its reason become an event on the vCon’s asset')
    .argument('<job>')
    .requiredOption('--reason <text>', 'up to 200 characters, kept for ever; no names, addresses or numbers')
    .action((job: string, { reason }: { reason: string }) => run(({ backend }) => drop(backend, job, reason)));
}
