import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { readKeyDocument } from '../core/cose/key-document.js';
import { VerificationError } from '../core/errors.js';
import { decodeVkey } from '../core/tlog/signed-note.js';
import { readInput, UsageError } from './evidence-file.js';
import { fetchFile, LogUnreachable, requireFile } from './monitor/fetch-file.js';
import { followMmrLog } from './monitor/follow-mmr-log.js';
import { followStatementLog } from './monitor/follow-statement-log.js';
import { keptFiles } from './monitor/kept-files.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';

interface MonitorOptions {
  readonly state: string;
  readonly logKeys?: readonly string[];
  readonly vkey?: readonly string[];
  readonly tenancy?: readonly string[];
  readonly seconds: string;
  readonly once?: boolean;
}

/** One log, under the name that its lines have. */
interface Watched {
  readonly name: string;
  look(): Promise<string>;
}

const EXIT_ALARM = 1;
const RANDOM_RANGE = 2 ** 47;
const random = () => randomInt(RANDOM_RANGE) / RANDOM_RANGE;

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** The tenancies whose logs the service publishes. */
async function publishedTenancies(url: string): Promise<string[]> {
  const where = encodeURIComponent(`"lastid">='${'0'.repeat(18)}'`);
  const xml = new TextDecoder().decode(await requireFile(`${url}/verifiabledata/?comp=blobs&where=${where}`));
  return [...xml.matchAll(/<Name>v1\/mmrs\/tenant\/([0-9a-f-]{36})\/0\/massifs\//g)].map((match) => match[1]!);
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
    return { name: subject, look: () => followMmrLog(log, keptFiles(join(options.state, subject))) };
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
  return Promise.all(
    (options.vkey ?? []).map(async (given) => {
      const key = await verifierKey(given);
      const prefix = `${url}/verifiabledata/tlog/${key.name.replace(/^log\//, '')}`;
      const log = { url: prefix, key, random };
      return { name: key.name, look: () => followStatementLog(log, keptFiles(join(options.state, key.name))) };
    }),
  );
}

/** Looks at each log once. True when one of them is not what it was. */
async function round(watched: readonly Watched[], terminal: Terminal, now: () => Date): Promise<boolean> {
  let alarmed = false;
  for (const { name, look } of watched) {
    try {
      terminal.print(`${now().toISOString()} ${name}: ${await look()}`);
    } catch (error) {
      if (error instanceof LogUnreachable) terminal.complain(`${now().toISOString()} ${name}: ${error.message}`);
      else if (error instanceof VerificationError) {
        alarmed = true;
        terminal.complain(`${now().toISOString()} ALARM ${name}: ${error.message} [${error.code}]`);
      } else throw error;
    }
  }
  return alarmed;
}

async function monitor(given: string, options: MonitorOptions, terminal: Terminal): Promise<void> {
  const url = given.replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url)) throw new UsageError('name the service by its URL');
  if (!/^[1-9]\d{0,5}$/.test(options.seconds)) throw new UsageError('--seconds must be a number of seconds');
  if (!options.logKeys && !options.vkey)
    throw new UsageError('give --log-keys to follow tenancy logs, --vkey to follow statement logs, or both');
  if ((await fetchFile(`${url}/verifiabledata/tlog`)) === undefined)
    throw new UsageError(`${url} publishes no logs: give the base URL of the service`);
  const statementLogs = await watchedStatementLogs(url, options);
  for (;;) {
    const mmrLogs = await watchedMmrLogs(url, options).catch((error: unknown) => {
      if (!(error instanceof LogUnreachable) || options.once) throw error;
      terminal.complain(error.message);
      return [];
    });
    if (await round([...mmrLogs, ...statementLogs], terminal, () => new Date())) {
      terminal.complain(`what contradicts each other is kept in ${options.state}`);
      terminal.exitCode = EXIT_ALARM;
      return;
    }
    if (options.once) return;
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
    .option('--once', 'look once')
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
