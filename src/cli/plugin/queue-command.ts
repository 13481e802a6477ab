import type { Command } from 'commander';
import { pino } from 'pino';
import { dropOperation, dropReason } from '../../../plugins/operator/drop-operation.js';
import { showOperation } from '../../../plugins/operator/kept-operation.js';
import { OperatorError } from '../../../plugins/operator/operator-error.js';
import { queueInventory } from '../../../plugins/operator/queue-inventory.js';
import { replayDeadLetters, replayOperation } from '../../../plugins/operator/replay-operation.js';
import { requireRightTime } from '../../../plugins/operator/require-right-time.js';
import {
  isSetAsideId,
  replayAllSetAside,
  replaySetAside,
  type SetAsidePlaces,
} from '../../../plugins/operator/set-aside.js';
import { spoolPlace } from '../../../plugins/operator/spool-place.js';
import { systemClock } from '../../platform/clock.js';
import type { QueueBackend } from '../../platform/queue/queue-backend.js';
import { ConfigError, parseConfig } from '../../service/config/config.js';
import { watchPluginDisks } from '../../service/watch-disks.js';
import { examples } from '../help-examples.js';
import { serviceUrl } from '../service-url.js';
import { EXIT_USAGE, jsonLines, type Terminal } from '../terminal.js';
import { openOperatorQueue } from './open-operator-queue.js';
import { type FullDisk, inventoryLines, notLookedAtText, operationLines } from './queue-text.js';

/** Exit code for a valid command that could not be carried out. */
const EXIT_NOT_DONE = 1;
const LISTED = 20;
const MAX_LISTED = 1000;

class UsageError extends Error {}

/** The answer of a subcommand, for a machine and for a person. */
interface Answer {
  readonly document: object;
  readonly lines: readonly string[];
  /** Something of it could not be done. */
  readonly incomplete?: boolean;
}

/** Finds the disks that are full now. */
type FullDisks = () => Promise<FullDisk[]>;
type Work = (places: SetAsidePlaces, fullDisks: FullDisks) => Promise<Answer>;

async function onQueue(work: Work): Promise<Answer> {
  const config = parseConfig(process.env);
  const logger = pino({ level: 'silent' });
  // Standard output holds the answer and nothing else.
  const queue = await openOperatorQueue(config, logger).catch((error: unknown) => {
    throw error instanceof OperatorError ? new UsageError(error.message) : error;
  });
  try {
    const { conserverRedisUrl: url, stream } = config.plugin;
    const conserver = url === undefined ? undefined : { url, stream };
    const disk = watchPluginDisks(config, { logger, queueIsFull: () => queue.backend.isFull() });
    return await work({ backend: queue.backend, spool: spoolPlace(config.dataDir), conserver }, async () => {
      await disk.look();
      return disk.states().flatMap(({ use, full, freeBytes }) => (full ? [{ disk: use, freeBytes }] : []));
    });
  } finally {
    await queue.close();
  }
}

async function answer(terminal: Terminal, json: boolean, find: () => Promise<Answer>): Promise<void> {
  try {
    const { document, lines, incomplete = false } = await find();
    terminal.print(json ? jsonLines(document) : lines);
    if (incomplete) terminal.exitCode = EXIT_NOT_DONE;
  } catch (error) {
    const usage = error instanceof UsageError || error instanceof ConfigError;
    if (!usage && !(error instanceof OperatorError)) throw error;
    if (json) terminal.print(jsonLines({ error: error.message }));
    else terminal.complain(`error: ${error.message}`);
    terminal.exitCode = usage ? EXIT_USAGE : EXIT_NOT_DONE;
  }
}

function listed(limit: string): number {
  if (!/^\d{1,4}$/.test(limit) || Number(limit) > MAX_LISTED)
    throw new UsageError(`--limit must be a number up to ${MAX_LISTED}`);
  return Number(limit);
}

async function inventory(places: SetAsidePlaces, fullDisks: FullDisks, limit: string): Promise<Answer> {
  const document = {
    ...(await queueInventory(places, systemClock, listed(limit))),
    fullDisks: await fullDisks(),
  };
  return { document, lines: inventoryLines(document) };
}

async function show(backend: QueueBackend, job: string): Promise<Answer> {
  const document = await showOperation(backend, job);
  return { document, lines: operationLines(document) };
}

interface ReplayOptions {
  readonly all?: boolean;
  readonly operation?: string;
  readonly tenancy?: string;
}

async function replayAll(places: SetAsidePlaces): Promise<Answer> {
  const letters = await replayDeadLetters(places.backend);
  const { replayed: items, staying, notLookedAt } = await replayAllSetAside(places, systemClock.now());
  const replayed = letters + items;
  const incomplete = notLookedAt.length > 0;
  return {
    document: { replayed, ...(staying.length > 0 && { staying }), ...(incomplete && { notLookedAt }) },
    lines: [
      `${replayed} dead letters and set-aside items will be tried again.`,
      ...staying.map(({ id, reason }) => `${id} stays: ${reason}`),
      ...notLookedAt.map(notLookedAtText),
    ],
    incomplete,
  };
}

async function replay(places: SetAsidePlaces, job: string | undefined, options: ReplayOptions): Promise<Answer> {
  const { all = false, ...correction } = options;
  if ((job === undefined) !== all) throw new UsageError('give either one job or --all');
  if (Object.keys(correction).length > 0 && !job?.startsWith('stream:'))
    throw new UsageError('--operation and --tenancy correct one entry of the stream: give it as stream:<entry>');
  if (job === undefined) return replayAll(places);
  if (isSetAsideId(job)) await replaySetAside(places, job, correction);
  else await replayOperation(places.backend, job);
  return { document: { replayed: 1, job }, lines: [`Job ${job} will be tried again now.`] };
}

/** What forbids a drop is found before the queue is opened. */
async function drop(job: string, given: string): Promise<Answer> {
  const reason = dropReason(given);
  await requireRightTime(serviceUrl(parseConfig(process.env)), systemClock);
  return onQueue(async ({ backend }) => {
    const document = await dropOperation(backend, systemClock, job, reason);
    return { document, lines: [`Dropped. Job ${document.record} delivers the record of it to the log.`] };
  });
}

/**
 * `queue`: shows the operations that the conserver plugin keeps for delivery, and replays or drops dead letters, on the
 * queue that the environment names. Exit code 1: it could not be done; 2: the command line or the configuration is invalid.
 */
export function addQueueCommand(program: Command, terminal: Terminal): void {
  const queue = program
    .command('queue')
    .description('show the operations that wait for delivery, the dead letters, and what was set aside');
  const json = () => queue.opts<{ json?: boolean }>().json === true;
  const run = (work: Work) => answer(terminal, json(), () => onQueue(work));
  queue
    .option('--json', 'print one JSON document; also for the subcommands')
    .option('--limit <n>', 'how many dead letters, and set-aside items of each kind, to list', String(LISTED))
    .addHelpText('after', examples('vcon-archivist queue', 'vcon-archivist queue --json --limit 100'))
    .action((options: { limit: string }) => run((places, fullDisks) => inventory(places, fullDisks, options.limit)));
  queue
    .command('show')
    .description('show everything that is kept of one operation')
    .argument('<job>', 'id of the job, as queue lists it')
    .addHelpText('after', examples('vcon-archivist queue show <job>'))
    .action((job: string) => run(({ backend }) => show(backend, job)));
  queue
    .command('replay')
    .description('try a dead letter, a waiting job or a set-aside item again; never records a second event')
    .argument('[job]', 'id of the job or of the set-aside item, as queue lists it')
    .option('--all', 'every dead letter and every set-aside item')
    .option('--operation <name>', 'for an entry of the stream: the operation to record instead of the refused one')
    .option('--tenancy <name>', 'for an entry of the stream: the tenancy to record it for')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist queue replay <job>',
        'vcon-archivist queue replay --all',
        'vcon-archivist queue replay stream:<entry> --operation vcon_sent',
      ),
    )
    .action((job: string | undefined, options: ReplayOptions) => run((places) => replay(places, job, options)));
  queue
    .command('drop')
    .description('give up a dead letter; the drop and its reason are recorded as an event on the vCon’s asset')
    .argument('<job>', 'id of the job, as queue lists it')
    .requiredOption('--reason <text>', 'up to 200 characters, kept for ever; no addresses and no telephone numbers')
    .addHelpText('after', examples('vcon-archivist queue drop <job> --reason "test data"'))
    .action((job: string, { reason }: { reason: string }) => answer(terminal, json(), () => drop(job, reason)));
}
