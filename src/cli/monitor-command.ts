import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { readKeyDocument } from '../core/cose/key-document.js';
import { VerificationError } from '../core/errors.js';
import { decodeVkey } from '../core/tlog/signed-note.js';
import { lockFolder } from '../platform/postgres/folder-lock.js';
import { readInput, UsageError } from './evidence-file.js';
import { examples } from './help-examples.js';
import { fetchFile, LogUnreachable } from './monitor/fetch-file.js';
import { followMmrLog, SEAL } from './monitor/follow-mmr-log.js';
import { CHECKPOINT, followStatementLog } from './monitor/follow-statement-log.js';
import { keptFiles, StateDamaged } from './monitor/kept-files.js';
import { publishedTenancies } from './monitor/published-tenancies.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';

interface MonitorOptions {
  readonly state: string;
  readonly logKeys?: readonly string[];
  readonly vkey?: readonly string[];
  readonly tenancy?: readonly string[];
  readonly seconds: string;
  readonly silence?: string;
  readonly once?: boolean;
}

/** One log, and the name under which it is reported. */
interface Watched {
  readonly name: string;
  look(): Promise<string>;
  /** When it last showed something new, in Unix milliseconds. */
  changedAt(): Promise<number | undefined>;
}

/** Result of a round: all is well, a log could not be read, or a log contradicts what it showed before. */
type Outcome = 'well' | 'unseen' | 'alarm';

const EXIT_ALARM = 1;
const HOUR_MS = 3_600_000;
const RANDOM_RANGE = 2 ** 47;
const random = () => randomInt(RANDOM_RANGE) / RANDOM_RANGE;

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** A log that was seen once is followed for ever, even if the service no longer lists it. */
async function allTenancies(url: string, state: string): Promise<string[]> {
  const seen = await readdir(join(state, 'tenant')).catch(() => []);
  return [...new Set([...seen, ...(await publishedTenancies(url))])].sort();
}

async function watchedMmrLogs(url: string, options: MonitorOptions): Promise<Watched[]> {
  if (!options.logKeys) return [];
  const keys = await Promise.all(options.logKeys.map(async (path) => readKeyDocument(await readInput(path))));
  const logKeys = keys.flat();
  const tenancies = options.tenancy ?? (await allTenancies(url, options.state));
  return tenancies.map((tenancy) => {
    const subject = `tenant/${tenancy}`;
    const log = { url, tenancy, random, trust: { logKeys, log: { subject } } };
    const kept = keptFiles(join(options.state, subject));
    return { name: subject, look: () => followMmrLog(log, kept), changedAt: () => kept.changedAt(SEAL) };
  });
}

/** Reads a verifier key, given as text or as a file. */
async function verifierKey(given: string) {
  try {
    return decodeVkey(given);
  } catch {
    const text = await readFile(given, 'utf8').catch(() => {
      throw new UsageError(`--vkey: ${given} is neither a verifier key nor a file`);
    });
    return decodeVkey(text.trim());
  }
}

async function watchedStatementLogs(url: string, options: MonitorOptions): Promise<Watched[]> {
  const all = await Promise.all((options.vkey ?? []).map(verifierKey));
  const origins = [...new Set(all.map(({ name }) => name))];
  return origins.map((origin) => {
    const prefix = `${url}/verifiabledata/tlog/${origin.replace(/^log\//, '')}`;
    // A log whose key was rotated has several keys.
    const log = { url: prefix, origin, keys: all.filter(({ name }) => name === origin), random };
    const kept = keptFiles(join(options.state, origin));
    return { name: origin, look: () => followStatementLog(log, kept), changedAt: () => kept.changedAt(CHECKPOINT) };
  });
}

/** Whether a log has shown nothing new for longer than allowed: a frozen view can hide a fork. */
async function isSilent({ changedAt }: Watched, { silence }: MonitorOptions, now: Date): Promise<boolean> {
  if (silence === undefined) return false;
  const changed = await changedAt();
  return changed !== undefined && now.getTime() - changed > Number(silence) * HOUR_MS;
}

async function lookAt(each: Watched, options: MonitorOptions, terminal: Terminal): Promise<Outcome> {
  const now = new Date();
  const line = (text: string) => `${now.toISOString()} ${text}`;
  try {
    terminal.print(line(`${each.name}: ${await each.look()}`));
    if (!(await isSilent(each, options, now))) return 'well';
    terminal.complain(line(`ALARM ${each.name}: nothing new for more than ${options.silence} hours`));
    return 'alarm';
  } catch (error) {
    if (error instanceof VerificationError) {
      terminal.complain(line(`ALARM ${each.name}: ${error.message} [${error.code}]`));
      return 'alarm';
    }
    if (!(error instanceof LogUnreachable || error instanceof StateDamaged)) throw error;
    terminal.complain(line(`${each.name}: ${error.message}`));
    return 'unseen';
  }
}

/** Looks at each log once. */
async function round(watched: readonly Watched[], options: MonitorOptions, terminal: Terminal): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const each of watched) outcomes.push(await lookAt(each, options, terminal));
  if (outcomes.includes('alarm')) return 'alarm';
  return outcomes.includes('unseen') ? 'unseen' : 'well';
}

async function monitor(given: string, options: MonitorOptions, terminal: Terminal): Promise<void> {
  const url = given.replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url)) throw new UsageError('<url> must begin with http:// or https://');
  if (!/^[1-9]\d{0,5}$/.test(options.seconds)) throw new UsageError('--seconds must be a number of seconds');
  if (options.silence !== undefined && !/^[1-9]\d{0,4}$/.test(options.silence))
    throw new UsageError('--silence must be a number of hours');
  if (!options.logKeys && !options.vkey)
    throw new UsageError('give --log-keys to follow tenancy logs, --vkey to follow statement logs, or both');
  if ((await fetchFile(`${url}/verifiabledata/tlog`)) === undefined)
    throw new UsageError(`${url} publishes no logs: give the base URL of the service`);
  const lock = await lockFolder(options.state).catch((error: unknown) => {
    throw new UsageError(`--state: ${(error as Error).message}`);
  });
  try {
    await follow(url, options, terminal);
  } finally {
    await lock.release();
  }
}

async function follow(url: string, options: MonitorOptions, terminal: Terminal): Promise<void> {
  const statementLogs = await watchedStatementLogs(url, options);
  for (;;) {
    const mmrLogs = await watchedMmrLogs(url, options).catch((error: unknown) => {
      if (!(error instanceof LogUnreachable) || options.once) throw error;
      terminal.complain(error.message);
      return [];
    });
    const watched = [...mmrLogs, ...statementLogs];
    if (watched.length === 0) terminal.complain(`${url} publishes no log yet`);
    const outcome = await round(watched, options, terminal);
    if (outcome === 'alarm') {
      terminal.complain(`conflicting files were saved in ${options.state}`);
      terminal.exitCode = EXIT_ALARM;
      return;
    }
    if (options.once) {
      // A monitor that runs from a timer must not report success for a log that it could not read.
      terminal.exitCode = outcome === 'well' && watched.length > 0 ? 0 : EXIT_USAGE;
      return;
    }
    await wait(Number(options.seconds) * 1000);
  }
}

/**
 * `monitor`: follows a service's logs from outside and remembers on disk what it saw. Stops with exit code 1 at a fork, a
 * rollback or a forged file. A log that cannot be reached is tried again. Exit code 2: the command line is invalid.
 */
export function addMonitorCommand(program: Command, terminal: Terminal): void {
  program
    .command('monitor')
    .description(
      'follow a service’s logs from outside, and stop with exit status 1 if one was rolled back, forked or forged',
    )
    .argument('<url>', 'base URL of the service')
    .requiredOption('--state <folder>', 'where to remember what was seen; each monitor needs a folder of its own')
    .option('--log-keys <file>', 'keys of the tenancy logs and their seals; repeatable', collect)
    .option('--vkey <key>', 'verifier key of a statement log, or a file with it; repeatable', collect)
    .option('--tenancy <uuid>', 'follow only this tenancy’s log; repeatable', collect)
    .option('--seconds <number>', 'interval between two rounds', '60')
    .option('--silence <hours>', 'raise an alarm if a log shows nothing new for so long; default: no limit')
    .option('--once', 'look at each log once; exit status 2 if a log could not be read')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist monitor https://archivist.example --state ./seen --vkey log.vkey --log-keys keys.cbor',
        'vcon-archivist monitor https://archivist.example --state ./seen --vkey log.vkey --once',
      ),
    )
    .action(async (url: string, options: MonitorOptions) => {
      try {
        await monitor(url, options, terminal);
      } catch (error) {
        const usage =
          error instanceof UsageError || error instanceof LogUnreachable || error instanceof VerificationError;
        if (!usage) throw error;
        terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}
