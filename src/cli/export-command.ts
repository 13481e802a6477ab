import { join, parse } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../core/evidence/usage-error.js';
import { ConfigError, parseConfig } from '../service/config/config.js';
import { type ArchivistReader, openReader } from './archivist-reader.js';
import { counted } from './counted.js';
import { exportParts, type FoundEvent } from './export-parts.js';
import { examples } from './help-examples.js';
import { EXIT_USAGE, type Terminal } from './terminal.js';
import { writeOutput } from './write-output.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EXAMPLE_UUID = '018e8e36-5a2a-8e2b-9d46-1f0f2c1d3a4b';
const SEARCHED = 50;

/**
 * `export`: fetches every piece of evidence about one vCon from a running service and writes it to one file, which `verify`
 * and other tools read. If that is more than one bundle can hold, it writes several, which are numbered. Exit code 0: the
 * files are written; 2: not all of them could be written.
 */
export function addExportCommand(program: Command, terminal: Terminal): void {
  program
    .command('export')
    .description(
      'write all evidence about a vCon into a zip file, or into several (-1, -2, …) if one would be too large for verifiers; needs a running service and credentials that may read',
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
        const progress = (read: number) => terminal.progress?.(`${read} of ${counted(events.length, 'event')} read`);
        const written = await writeParts(options.out ?? `${uuid}.evidence.zip`, reader, events, progress);
        terminal.print(`${counted(events.length, 'event')} about vcon://${uuid} written to ${written.join(', ')}`);
      } catch (error) {
        if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
        terminal.complain(`error: ${error.message}`);
        terminal.exitCode = EXIT_USAGE;
      }
    });
}

/** Writes each part when it is read, and returns the names of the files. */
async function writeParts(
  out: string,
  reader: ArchivistReader,
  events: readonly FoundEvent[],
  progress: (read: number) => void,
): Promise<string[]> {
  const written: string[] = [];
  for await (const part of exportParts(reader, events, progress)) {
    const path = part.events === events.length ? out : numbered(out, written.length + 1);
    await writeOutput('--out', path, part.zip);
    written.push(path);
  }
  return written;
}

/** `evidence.zip` becomes `evidence-1.zip`: a person who has only this file sees that it is a part. */
function numbered(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}-${number}${ext}`);
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
