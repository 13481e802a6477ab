import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { VerificationError } from '../core/errors.js';
import { UsageError } from '../core/evidence/usage-error.js';
import type { TrustedKeyManifest } from '../core/keys/verify-key-manifests.js';
import { decodeVkey } from '../core/tlog/signed-note.js';
import { failureReason } from '../platform/explain-failure.js';
import { lockFolder } from '../platform/postgres/folder-lock.js';
import { collect } from './collect.js';
import { counted } from './counted.js';
import { examples } from './help-examples.js';
import { readKeyFiles } from './key-files.js';
import { fetchFile, LogUnreachable } from './monitor/fetch-file.js';
import { followKeyManifest, keysOfManifest } from './monitor/follow-key-manifest.js';
import { keptFiles, StateDamaged } from './monitor/kept-files.js';
import { KeysOutdated } from './monitor/keys-outdated.js';
import { type FollowedKeys, type Watched, watchedLogs } from './monitor/watched-logs.js';
import { rootThumbprint } from './root-option.js';
import { EXIT_USAGE, giveNoVerdict, type Terminal } from './terminal.js';
import { namedWitnesses, type WitnessOptions } from './witness-options.js';

interface MonitorOptions extends WitnessOptions {
  readonly state: string;
  readonly root?: string;
  readonly logKeys?: readonly string[];
  readonly vkey?: readonly string[];
  readonly tenancy?: readonly string[];
  readonly seconds: string;
  readonly silence?: string;
  readonly once?: boolean;
}

/**
 * Result of a round: all is well, a log could not be read, the keys were older than the logs, or a log contradicts what it
 * showed before.
 */
type Outcome = 'well' | 'unseen' | 'outdated' | 'alarm';

const EXIT_ALARM = 1;
const HOUR_MS = 3_600_000;

/** Reads a verifier key, given as text or as a file. */
async function verifierKey(given: string) {
  try {
    return decodeVkey(given);
  } catch {
    const text = await readFile(given, 'utf8').catch(() => {
      throw new UsageError(`--vkey: ${given} is neither a verifier key nor a file`);
    });
    try {
      return decodeVkey(text.trim());
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      throw new UsageError(`--vkey: no verifier key in ${given}: ${error.message}`);
    }
  }
}

/** The keys of --log-keys and --vkey, which stay the same. */
async function givenKeys({ logKeys, vkey = [] }: MonitorOptions): Promise<FollowedKeys> {
  const seals = logKeys && (await readKeyFiles('--log-keys', logKeys));
  return { seals, notes: await Promise.all(vkey.map(verifierKey)) };
}

/** The key manifest as one more thing to look at, and the keys that it gives. */
function watchedManifest(url: string, { state }: MonitorOptions, rootThumbprint: Uint8Array) {
  const kept = keptFiles(join(state, 'keys'));
  let seen: TrustedKeyManifest | undefined;
  const look = async () => {
    seen = await followKeyManifest({ url, rootThumbprint }, kept);
    return seen.manifest;
  };
  const watched: Watched = {
    name: 'key manifest',
    async look() {
      const manifest = await look();
      return `number ${manifest.number} of ${new Date(manifest.issuedAtMs).toISOString()}, ${counted(manifest.keys.length, 'key')}`;
    },
    changedAt: async () => undefined,
  };
  const isNewer = ({ manifest: { number } }: TrustedKeyManifest) =>
    look().then(
      (newest) => newest.number > number,
      (error: unknown) => {
        // A manifest that cannot be read says nothing about an unknown key: no alarm is raised before it is known.
        if (!(error instanceof VerificationError)) throw error;
        return false;
      },
    );
  const keysOf = (used: TrustedKeyManifest): FollowedKeys => ({
    ...keysOfManifest(used),
    outdated: () => isNewer(used),
  });
  return { watched, keys: () => seen && keysOf(seen) };
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
  const silenceAlarm = () => {
    terminal.complain(line(`ALARM ${each.name}: nothing new for more than ${options.silence} hours`));
    return 'alarm' as const;
  };
  try {
    terminal.print(line(`${each.name}: ${await each.look()}`));
    return (await isSilent(each, options, now)) ? silenceAlarm() : 'well';
  } catch (error) {
    if (error instanceof VerificationError) {
      terminal.complain(line(`ALARM ${each.name}: ${error.message} [${error.code}]`));
      return 'alarm';
    }
    if (error instanceof KeysOutdated) {
      terminal.print(line(`${each.name}: ${error.message}`));
      return 'outdated';
    }
    if (!(error instanceof LogUnreachable || error instanceof StateDamaged)) throw error;
    terminal.complain(line(`${each.name}: ${error.message}`));
    // A log that is withheld hides as much as one that is frozen.
    return (await isSilent(each, options, now)) ? silenceAlarm() : 'unseen';
  }
}

function worst(outcomes: readonly Outcome[]): Outcome {
  const worstFirst = ['alarm', 'outdated', 'unseen'] as const;
  return worstFirst.find((outcome) => outcomes.includes(outcome)) ?? 'well';
}

/** Looks at each log once. */
async function round(watched: readonly Watched[], options: MonitorOptions, terminal: Terminal): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const each of watched) outcomes.push(await lookAt(each, options, terminal));
  return worst(outcomes);
}

async function monitor(given: string, options: MonitorOptions, terminal: Terminal): Promise<void> {
  const url = given.replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url)) throw new UsageError('<url> must begin with http:// or https://');
  if (!/^[1-9]\d{0,5}$/.test(options.seconds)) throw new UsageError('--seconds must be a number of seconds');
  if (options.silence !== undefined && !/^[1-9]\d{0,4}$/.test(options.silence))
    throw new UsageError('--silence must be a number of hours');
  if (options.root === undefined && !options.logKeys && !options.vkey)
    throw new UsageError(
      'give --root to follow all logs by the fingerprint of the root key, or --log-keys to follow tenancy logs, --vkey to follow statement logs, or both',
    );
  if (options.root !== undefined && (options.logKeys || options.vkey))
    throw new UsageError('--root names all keys: give it without --log-keys and --vkey');
  namedWitnesses(options);
  if (options.witness && options.root === undefined)
    throw new UsageError('--witness needs --root: the key manifest says which logs witnesses cosign');
  if ((await fetchFile(`${url}/verifiabledata/tlog`)) === undefined)
    throw new UsageError(`${url} publishes no logs: give the base URL of the service`);
  const lock = await lockFolder(options.state).catch((error: unknown) => {
    throw new UsageError(`--state: ${failureReason(error)}`);
  });
  try {
    await follow(url, options, terminal);
  } finally {
    await lock.release();
  }
}

async function follow(url: string, options: MonitorOptions, terminal: Terminal): Promise<void> {
  const manifest = options.root === undefined ? undefined : watchedManifest(url, options, rootThumbprint(options.root));
  const given = await givenKeys(options);
  const witnesses = options.witness && namedWitnesses(options);
  const service = { url, state: options.state, tenancies: options.tenancy, witnesses };
  for (;;) {
    const first = manifest ? await lookAt(manifest.watched, options, terminal) : 'well';
    const keys = manifest ? manifest.keys() : given;
    const watched = keys && first !== 'alarm' ? await watchedLogs(service, keys) : undefined;
    if (watched?.length === 0) terminal.complain(`${url} publishes no log yet`);
    const outcome = worst([first, await round(watched ?? [], options, terminal)]);
    if (outcome === 'alarm') {
      terminal.complain(`keep ${options.state}: it holds what was seen, and each file that contradicts it`);
      terminal.exitCode = EXIT_ALARM;
      return;
    }
    if (outcome === 'outdated') continue;
    if (options.once) {
      // A monitor that runs from a timer must not report success for a log that it could not read.
      terminal.exitCode = outcome === 'well' && watched?.length ? 0 : EXIT_USAGE;
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
      'follow a service’s logs and keys from outside, and stop with exit status 1 if one was rolled back, forked or forged',
    )
    .argument('<url>', 'base URL of the service')
    .requiredOption('--state <folder>', 'where to remember what was seen; each monitor needs a folder of its own')
    .option(
      '--root <fingerprint>',
      'follow the key manifest and all logs, by the fingerprint of the root key; no other key option is needed',
    )
    .option('--log-keys <file>', 'keys of the tenancy logs and their seals; repeatable', collect)
    .option('--vkey <key>', 'verifier key of a statement log, or a file with it; repeatable', collect)
    .option('--tenancy <uuid>', 'follow only this tenancy’s log; repeatable', collect)
    .option(
      '--witness <vkey>',
      'key of a witness (name+hash+key) that must have cosigned what the service shows; repeatable; needs --root',
      collect,
    )
    .option(
      '--witness-quorum <n>',
      'how many of these witnesses must have cosigned, at most as many as the service waits for; default all',
    )
    .option('--seconds <number>', 'interval between two rounds', '60')
    .option('--silence <hours>', 'raise an alarm if a log shows nothing new for this long; default: never')
    .option('--once', 'look at each log once; exit status 2 if a log could not be read')
    .addHelpText(
      'after',
      examples(
        'vcon-archivist monitor https://archivist.example --state ./seen --root AITC-A7TU-…',
        'vcon-archivist monitor https://archivist.example --state ./seen --root AITC-A7TU-… --witness w1.example+…',
        'vcon-archivist monitor https://archivist.example --state ./seen --vkey log.vkey --log-keys keys.cbor',
        'vcon-archivist monitor https://archivist.example --state ./seen --vkey log.vkey --once',
      ),
    )
    .action(async (url: string, options: MonitorOptions) => {
      try {
        await monitor(url, options, terminal);
      } catch (error) {
        const expected = [UsageError, LogUnreachable, VerificationError].some((kind) => error instanceof kind);
        giveNoVerdict(terminal, error, expected);
      }
    });
}
