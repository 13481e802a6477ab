import type { Command } from 'commander';
import { type BundledOperation, type BundleFiles, INDEX_PATH } from '../core/bundle/bundle-index.js';
import { copyPath, PAGE_PATH, placeOf, TEXT_PATH } from '../core/bundle/bundle-layout.js';
import { completeBundle } from '../core/bundle/complete-bundle.js';
import { zipBundle } from '../core/bundle/zip-bundle.js';
import { equalBytes } from '../core/bytes.js';
import { checkBundleLimits, MOST_FILES, openBundle } from '../core/evidence/open-bundle.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { nativeSha256 } from '../platform/native-sha256.js';
import { bundlePageReader } from '../service/built-pages.js';
import { ConfigError, parseConfig } from '../service/config/config.js';
import { type ArchivistReader, openReader } from './archivist-reader.js';
import { counted } from './counted.js';
import { examples } from './help-examples.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { writeOutput } from './write-output.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EXAMPLE_UUID = '018e8e36-5a2a-8e2b-9d46-1f0f2c1d3a4b';
const SEARCHED = 50;
/** Of an event: itself, and its receipt in both forms. */
const LEAST_FILES = 3;

interface FoundEvent {
  readonly identity: string;
  readonly operation: string;
}

/**
 * `export`: fetches every piece of evidence about one vCon from a running service and writes it to one file, which `verify`
 * and other tools read. Exit code 0: the file is written; 2: it could not be written.
 */
export function addExportCommand(program: Command, terminal: Terminal): void {
  program
    .command('export')
    .description(
      'write all evidence about a vCon into one zip file; needs a running service and credentials that may read',
    )
    .argument('<vcon>', 'UUID of the vCon')
    .option('--out <file>', 'where to write it; default <uuid>.evidence.zip')
    .addHelpText(
      'after',
      examples(
        `vcon-archivist export ${EXAMPLE_UUID}`,
        'ARCHIVIST_URL=https://archivist.example vcon-archivist export <uuid> --out evidence.zip',
      ),
    )
    .action(async (given: string, options: { out?: string }) => {
      try {
        const uuid = given.replace(/^vcon:\/\//, '').toLowerCase();
        if (!UUID.test(uuid)) throw new UsageError(`<vcon> must be a UUID such as ${EXAMPLE_UUID}`);
        const reader = await openReader(parseConfig(process.env));
        const events = [...(await assetEvents(reader, uuid)), ...(await assetFreeEvents(reader, uuid))].sort(byTime);
        if (events.length === 0)
          throw new UsageError(`there is no event about vcon://${uuid} that these credentials may read`);
        const out = options.out ?? `${uuid}.evidence.zip`;
        await writeOutput('--out', out, await bundle(reader, events, (done) => terminal.progress?.(done)));
        terminal.print(`${counted(events.length, 'event')} about vcon://${uuid} written to ${out}`);
      } catch (error) {
        if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
        terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}

interface ListedEvent {
  readonly identity: string;
  readonly event_type?: string;
  readonly event_attributes?: Readonly<Record<string, unknown>>;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** All events of a filtered list. */
async function listed(reader: ArchivistReader, path: string, filter: string): Promise<ListedEvent[]> {
  const found: ListedEvent[] = [];
  let query = filter;
  do {
    const page = await reader.json(`${path}?${query}`);
    found.push(...(page['events'] as ListedEvent[]));
    const token = page['next_page_token'];
    query = typeof token === 'string' && token !== '' ? `page_token=${encodeURIComponent(token)}` : '';
  } while (query !== '');
  return found;
}

/** The id of an event begins with the time at which it was accepted. */
const eventIdOf = ({ identity }: FoundEvent): string => identity.slice(identity.lastIndexOf('/') + 1);

/** Oldest first. */
function byTime(left: FoundEvent, right: FoundEvent): number {
  return eventIdOf(left) < eventIdOf(right) ? -1 : 1;
}

async function assetEvents(reader: ArchivistReader, uuid: string): Promise<FoundEvent[]> {
  const subject = encodeURIComponent(`vcon://${uuid}`);
  const found = await listed(reader, '/archivist/v2/assets/-/events', `event_attributes.subject=${subject}`);
  return found.map(({ identity, event_attributes: attributes }) => ({
    identity: `v2/${identity}`,
    operation: String(attributes?.['vcon_operation'] ?? 'event'),
  }));
}

/** Those that have the vCon as their subject, and those that have it as a trail. */
async function assetFreeEvents(reader: ArchivistReader, uuid: string): Promise<FoundEvent[]> {
  const subject = encodeURIComponent(`vcon://${uuid}`);
  const found = [
    ...(await listed(reader, '/archivist/v1/events', `attributes.subject=${subject}`)),
    ...(await onTrail(reader, `vcon://${uuid}`)),
  ];
  const distinct = new Map(found.map((event) => [event.identity, event]));
  return Array.from(distinct.values(), ({ identity, event_type: type, attributes }) => ({
    identity: `v1/${identity}`,
    operation: String(attributes?.['vcon_operation'] ?? (type || 'event')),
  }));
}

async function onTrail(reader: ArchivistReader, trail: string): Promise<ListedEvent[]> {
  const found: ListedEvent[] = [];
  const filter = `trails/any(t: t eq '${trail}')`;
  for (;;) {
    const answer = await reader.json('/archivist/v1/events/search', { filter, top: SEARCHED, skip: found.length });
    const events = (answer['events'] ?? []) as ListedEvent[];
    found.push(...events);
    if (events.length < SEARCHED) return found;
  }
}

/**
 * Reads each event's own pieces, and then each massif of their logs once: it is a hundred times as large as the pieces,
 * and thousands of events share it.
 */
async function bundle(
  reader: ArchivistReader,
  events: readonly FoundEvent[],
  progress: (done: string) => void,
): Promise<Uint8Array> {
  if (events.length * LEAST_FILES > MOST_FILES)
    throw new UsageError(
      `${counted(events.length, 'event')} are too many for one file, of which verify reads ${MOST_FILES} parts at most: fetch the evidence of each event (…/events/<uuid>/evidence)`,
    );
  const all: Record<string, Uint8Array> = {};
  const operations: BundledOperation[] = [];
  /** An event of each massif, by the path of the massif's seal. */
  const inMassif = new Map<string, string>();
  for (const [place, { identity, operation }] of events.entries()) {
    const folder = `${String(place + 1).padStart(4, '0')}-${operation.replace(/[^\w-]+/g, '_').slice(0, 64)}`;
    const files = await evidence(reader, identity, 'page,massif');
    for (const [name, bytes] of Object.entries(files)) {
      addFile(all, folder, name, bytes);
      if (placeOf(name)?.kind === 'seal') inMassif.set(name, identity);
    }
    operations.push({ number: place + 1, folder, identity: identity.replace(/^v\d\//, '') });
    progress(`${place + 1} of ${counted(events.length, 'event')} read`);
  }
  for (const identity of inMassif.values()) {
    const files = Object.entries(await evidence(reader, identity, 'page'));
    for (const [name, bytes] of files) if (/^(?:log|keys)\//.test(name)) addFile(all, '', name, bytes);
  }
  const page = await bundlePageReader()();
  const complete = completeBundle(all, operations, page !== undefined, nativeSha256);
  checkBundleLimits(complete);
  return zipBundle(complete, page, 6);
}

async function evidence(reader: ArchivistReader, identity: string, without: string): Promise<BundleFiles> {
  return openBundle(await reader.bytes(`/archivist/${identity}/evidence?without=${without}`));
}

/** The text, the index and the page of each event's bundle are replaced by those of the whole bundle. */
function addFile(files: Record<string, Uint8Array>, folder: string, name: string, bytes: Uint8Array): void {
  if (name === TEXT_PATH || name === INDEX_PATH || name === PAGE_PATH) return;
  const isKeys = name.startsWith('keys/');
  // The newest copy of a log file wins: a log only grows.
  files[isKeys ? keysPath(files, name, bytes) : name.startsWith('log/') ? name : `${folder}/${name}`] = bytes;
}

/** A rotation between two answers changes the keys, and each issuer has its own: every different copy is kept. */
function keysPath(files: Readonly<Record<string, Uint8Array>>, name: string, bytes: Uint8Array): string {
  for (let number = 1; ; number += 1) {
    const path = copyPath(name, number);
    const copy = files[path];
    if (!copy || equalBytes(copy, bytes)) return path;
  }
}
