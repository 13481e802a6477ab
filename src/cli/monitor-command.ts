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

/** One log, under the name that its lines have. */
interface Watched {
  readonly name: string;
  look(): Promise<string>;
  /** Unix milliseconds of when it last showed something new. */
  changedAt(): Promise<number | undefined>;
}

/** What became of a round: nothing wrong, something that could not be looked at, or a log that is not what it was. */
type Outcome = 'well' | 'unseen' | 'alarm';

const EXIT_ALARM = 1;
const HOUR_MS = 3_600_000;
const RANDOM_RANGE = 2 ** 47;
const random = () => randomInt(RANDOM_RANGE) / RANDOM_RANGE;

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** A log that was seen once is followed for ever, also when the service is silent about it. */
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

/** A verifier key as it is, or a file that holds it. */
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
    // A log whose key was rotated has two.
    const log = { url: prefix, origin, keys: all.filter(({ name }) => name === origin), random };
    const kept = keptFiles(join(options.state, origin));
    return { name: origin, look: () => followStatementLog(log, kept), changedAt: () => kept.changedAt(CHECKPOINT) };
  });
}

/** Whether a log has shown nothing new for longer than it may: a view that is frozen is a view apart. */
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
  if (!/^https?:\/\//.test(url)) throw new UsageError('name the service by its URL');
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
      terminal.complain(`what contradicts each other is kept in ${options.state}`);
      terminal.exitCode = EXIT_ALARM;
      return;
    }
    if (options.once) {
      // Who looks by a timer must not take silence for a good answer.
      terminal.exitCode = outcome === 'well' && watched.length > 0 ? 0 : EXIT_USAGE;
      return;
    }
    await wait(Number(options.seconds) * 1000);
  }
}

/**
 * `monitor`: follows a service's logs from outside, with its own memory on disk, and ends loudly (exit code 1) at a fork,
 * a rollback or a forged file. A log that cannot be reached is tried again. Exit code 2: the command line is at fault.
 */
export function addMonitorCommand(program: Command, terminal: Terminal): void {
  program
    .command('monitor')
    .description('follow a service’s logs from outside and end loudly when one is not what it was')
    .argument('<url>', 'base URL of the service')
    .requiredOption('--state <folder>', 'where to remember what was seen; one folder a monitor')
    .option('--log-keys <file>', 'keys of tenancy logs and their seals; repeatable', collect)
    .option('--vkey <key>', 'verifier key of a statement log, or a file with it; repeatable', collect)
    .option('--tenancy <uuid>', 'follow this tenancy’s log alone; repeatable', collect)
    .option('--seconds <number>', 'how often to look', '60')
    .option('--silence <hours>', 'how long a log may show nothing new; unset: for ever')
    .option('--once', 'look once; exit code 2 when a log could not be looked at')
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
