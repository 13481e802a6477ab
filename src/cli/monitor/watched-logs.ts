import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PublicJwk } from '../../core/cose/public-key.js';
import { firstName } from '../../core/fork/log-generation.js';
import type { NoteKey } from '../../core/tlog/signed-note.js';
import { foundAt } from '../found-at.js';
import type { NamedWitnesses } from '../witness-options.js';
import { LogUnreachable } from './fetch-file.js';
import { followMmrLog } from './follow-mmr-log.js';
import { followStatementLog } from './follow-statement-log.js';
import { keptFiles, SIZE } from './kept-files.js';
import type { AreKeysOutdated } from './keys-outdated.js';
import { publishedTenancies } from './published-tenancies.js';
import { addWaiting, type RegisteredSeal, tenancyOf } from './registered-seals.js';

/** One log, and the name under which it is reported. */
export interface Watched {
  readonly name: string;
  look(): Promise<string>;
  /** When it last grew, in Unix milliseconds; undefined for a log that is empty or may be silent for ever. */
  changedAt(): Promise<number | undefined>;
}

/** The keys by which a monitor follows the logs of a service, from a source that the user trusts. */
export interface FollowedKeys {
  /** Keys of seals; undefined: tenancy logs are not followed. */
  readonly seals?: readonly PublicJwk[] | undefined;
  readonly revokedSeals?: readonly PublicJwk[] | undefined;
  /** Keys of the receipts of statement logs, which sign statements about open forks; undefined if they are not known. */
  readonly receipts?: readonly PublicJwk[] | undefined;
  /** Verifier keys; their names are the logs to follow. A log whose key was rotated has several. */
  readonly notes: readonly NoteKey[];
  readonly revokedNotes?: readonly NoteKey[] | undefined;
  /** The keys log, which is silent until a key changes, and the newest manifest, which is an entry of it. */
  readonly keysLog?: { readonly origin: string; readonly index: bigint; readonly entry: Uint8Array } | undefined;
  /** The statement logs that are known to publish their entries. */
  readonly withEntries?: readonly string[] | undefined;
  /** Undefined for keys that stay the same. */
  readonly outdated?: AreKeysOutdated;
}

/** What is followed, and where it is remembered. */
interface FollowedService {
  /** Base of the service. */
  readonly url: string;
  /** The monitor's folder. */
  readonly state: string;
  /** The only tenancies to follow; default: every one that the service publishes or has published. */
  readonly tenancies?: readonly string[] | undefined;
  /** Who must have cosigned the statement logs that publish their entries; undefined if that is not checked. */
  readonly witnesses?: NamedWitnesses | undefined;
}

const RANDOM_RANGE = 2 ** 47;
const random = () => randomInt(RANDOM_RANGE) / RANDOM_RANGE;

interface Tenancies {
  readonly found: readonly string[];
  /** Why there may be more. */
  readonly unlisted?: LogUnreachable;
}

/** A log that was seen once is followed for ever, even if the service no longer lists it. */
async function allTenancies({ url, state }: FollowedService): Promise<Tenancies> {
  const folder = join(state, 'tenant');
  const seen = (await foundAt(folder, readdir(folder))) ?? [];
  try {
    return { found: [...new Set([...seen, ...(await publishedTenancies(url))])].sort() };
  } catch (error) {
    if (!(error instanceof LogUnreachable)) throw error;
    return { found: seen.sort(), unlisted: error };
  }
}

/** The list itself, which cannot be read. */
function unlistedLogs(error: LogUnreachable): Watched {
  return { name: 'the list of tenancy logs', look: () => Promise.reject(error), changedAt: async () => undefined };
}

/** The tenancy logs of a service: where it does not list them, those that were seen before. */
async function watchedMmrLogs(
  service: FollowedService,
  keys: FollowedKeys,
  mustBeCovered: () => boolean,
): Promise<Watched[]> {
  const { seals: logKeys, revokedSeals: revokedKeys, outdated } = keys;
  if (!logKeys) return [];
  const { found, unlisted } = service.tenancies ? { found: service.tenancies } : await allTenancies(service);
  const logs = found.map((tenancy): Watched => {
    const subject = `tenant/${tenancy}`;
    const trust = { logKeys };
    const log = {
      url: service.url,
      tenancy,
      subject,
      random,
      now: Date.now,
      trust,
      revokedKeys,
      outdated,
      mustBeCovered,
    };
    const kept = keptFiles(join(service.state, subject));
    return { name: subject, look: () => followMmrLog(log, kept), changedAt: () => kept.changedAt(SIZE) };
  });
  return unlisted ? [unlistedLogs(unlisted), ...logs] : logs;
}

/** Keeps registered seals for the tenancy logs that are followed. One that the service does not list is followed from then on. */
async function keepRegistered({ state, tenancies }: FollowedService, seals: readonly RegisteredSeal[]): Promise<void> {
  for (const tenancy of new Set(seals.map(({ seal }) => tenancyOf(seal)!))) {
    if (tenancies && !tenancies.includes(tenancy)) continue;
    const its = seals.filter(({ seal }) => tenancyOf(seal) === tenancy);
    await addWaiting(keptFiles(join(state, 'tenant', tenancy)), its);
  }
}

/** The statement logs of which there are keys. @param readAll takes the origin of each whose entries were all read */
function watchedStatementLogs(
  service: FollowedService,
  keys: FollowedKeys,
  readAll: (origin: string) => void,
): Watched[] {
  const { url, state } = service;
  // Every generation of a log has the same keys, and is found under the name that the log began with.
  const origins = [...new Set(keys.notes.map(({ name }) => firstName(name)))];
  const of = (all: readonly NoteKey[], origin: string) => all.filter(({ name }) => firstName(name) === origin);
  return origins.map((origin) => {
    const prefix = `${url}/verifiabledata/tlog/${origin.replace(/^log\//, '')}`;
    const revokedKeys = of(keys.revokedNotes ?? [], origin);
    const known = keys.keysLog?.origin === origin ? keys.keysLog : undefined;
    const publishesEntries = keys.withEntries?.includes(origin) ?? false;
    const log = {
      url: prefix,
      origin,
      keys: of(keys.notes, origin),
      revokedKeys,
      outdated: keys.outdated,
      known,
      forkKeys: keys.receipts,
      publishesEntries,
      // Witnesses are asked to cosign the logs that everybody can read.
      witnesses: publishesEntries ? service.witnesses : undefined,
      registered: async (seals: readonly RegisteredSeal[]) => keys.seals && keepRegistered(service, seals),
      readAll: () => readAll(origin),
      now: Date.now,
    };
    const kept = keptFiles(join(state, origin));
    return {
      name: origin,
      look: () => followStatementLog(log, kept),
      changedAt: async () => (known ? undefined : kept.changedAt(SIZE)),
    };
  });
}

/** The logs of a service for one round. */
export async function watchedLogs(service: FollowedService, keys: FollowedKeys): Promise<Watched[]> {
  const read = new Set<string>();
  const mustBeCovered = () =>
    service.witnesses !== undefined && (keys.withEntries?.every((origin) => read.has(origin)) ?? false);
  // The statement logs first: a tenancy log that is looked at afterwards has reached each seal that is registered there.
  const tenancyLogs = await watchedMmrLogs(service, keys, mustBeCovered);
  return [...watchedStatementLogs(service, keys, (origin) => read.add(origin)), ...tenancyLogs];
}
