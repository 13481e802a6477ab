import { massifPath, parseBlobPath, sealPath } from '../../core/massif/blob-paths.js';
import type { CopiedDatabase, CopiedLog, CopiedState } from './copied-state-store.js';

const NUMBERED = /^(seals|blocks|key-manifests|forks)\/([^/]+)\/(\d{16})$/;
const BLOB = /^blobs\/(.+)$/;
const MASSIFS = 'verifiabledata/merklelogs/';

/** How an object of the store relates to a copy of the database. */
type Belonging = 'belongs' | 'later' | 'not copied';

/**
 * Returns the function that tells which objects belong to a copy. Only objects that never change are copied. The
 * growing massif and its seal are served from the database, and written when the massif is full.
 */
export function belongingTo(state: CopiedState): (key: string) => Belonging {
  const logs = new Map(state.logs.map((log) => [log.log, log]));
  const within = (number: number, last: number): Belonging => (number <= last ? 'belongs' : 'later');
  return (key) => {
    const [, kind, id = '', digits] = NUMBERED.exec(key) ?? [];
    if (kind === 'seals') return sealOf(id, Number(digits), logs);
    if (kind === 'forks') return logs.has(id) ? within(Number(digits), newestGeneration(logs.get(id)!)) : 'not copied';
    if (kind === 'blocks') return within(Number(digits), state.lastBlock);
    if (kind === 'key-manifests') return within(Number(digits), state.lastManifest);
    const blob = BLOB.exec(key)?.[1];
    if (blob !== undefined) return state.blobs.has(blob) ? 'belongs' : 'not copied';
    return key.startsWith(MASSIFS) ? massifFile(key.slice(MASSIFS.length), logs) : 'not copied';
  };
}

/** The number of the newest open fork of a log; 0 before the first. */
export const newestGeneration = ({ forks = [] }: CopiedLog): number => forks.at(-1)?.generation ?? 0;

/** The generation of a log that made one of its seals. */
function generationOf({ forks = [] }: CopiedLog, seal: number): number {
  return forks.findLast((fork) => Number(fork.seal_number) < seal)?.generation ?? 0;
}

/** The id of a log in the keys of its seals: a later generation has keys of its own. */
export function sealFolder(log: CopiedLog, seal: number): string {
  const generation = generationOf(log, seal);
  return generation === 0 ? log.log : `${log.log}.${generation}`;
}

/** Seals that an open fork left behind do not belong to the copy, and do not show that it is old. */
function sealOf(id: string, number: number, logs: ReadonlyMap<string, CopiedLog>): Belonging {
  const [name = '', generation = '0'] = id.split('.');
  const log = logs.get(name);
  if (!log) return 'not copied';
  if (Number(generation) > newestGeneration(log)) return 'later';
  if (number > log.sealNumber) return Number(generation) === newestGeneration(log) ? 'later' : 'not copied';
  return sealFolder(log, number) === id ? 'belongs' : 'not copied';
}

function massifFile(path: string, logs: ReadonlyMap<string, CopiedLog>): Belonging {
  const parsed = parseBlobPath(path);
  const log = parsed && logs.get(parsed.tenancyUuid);
  if (!parsed || !log) return 'not copied';
  return parsed.number < fullMassifs(log) ? 'belongs' : 'not copied';
}

/** Massifs that the published seal fills: they never change again, and no later seal writes them. */
const fullMassifs = ({ publishedLeaves, massifLeaves }: CopiedLog): number =>
  Math.floor(publishedLeaves / massifLeaves);

/**
 * Returns the keys of objects that a copy needs and that are not among these: published seals, full massifs with their seals,
 * statements of forks, blocks, key manifests and blobs.
 */
export function missingObjects(state: CopiedDatabase, keys: ReadonlySet<string>): string[] {
  const { blobs, blocks, deployment, keysLog, lastManifest } = state;
  return [
    ...state.logs.flatMap(objectsOf),
    // The newest block is stored a moment after it is in the database, which has all of it.
    ...blocks.slice(0, -1).map((number) => numbered(`blocks/${deployment}`, number)),
    ...upTo(lastManifest).map((number) => numbered(`key-manifests/${keysLog}`, number)),
    ...[...blobs].map((blob) => `blobs/${blob}`),
  ].filter((key) => !keys.has(key));
}

function objectsOf(log: CopiedLog): string[] {
  const { forks = [], publishedNumber, structure } = log;
  // The files of a log that was forked are not copied: its database serves them.
  const massifs = structure === 'MMR_SHA256' && forks.length === 0 ? fullMassifs(log) : 0;
  return [
    ...upTo(publishedNumber).map((number) => numbered(`seals/${sealFolder(log, number)}`, number)),
    ...forks.map(({ generation }) => numbered(`forks/${log.log}`, generation)),
    ...upTo(massifs).flatMap((number) =>
      [massifPath, sealPath].map((path) => `${MASSIFS}${path(log.log, number - 1)}`),
    ),
  ];
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, place) => place + 1);

const numbered = (folder: string, number: number): string => `${folder}/${String(number).padStart(16, '0')}`;
