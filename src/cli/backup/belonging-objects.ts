import { parseBlobPath } from '../../core/massif/blob-paths.js';
import type { CopiedLog, CopiedState } from './copied-state-store.js';

const NUMBERED = /^(seals|blocks|key-manifests|forks)\/([^/]+)\/(\d{16})$/;
const BLOB = /^blobs\/(.+)$/;
const MASSIFS = 'verifiabledata/merklelogs/';

/** How an object of the store relates to a copy of the database. */
type Belonging = 'belongs' | 'later' | 'not copied';

/**
 * Returns the function that tells which objects belong to a copy. Only objects that never change are copied. The
 * growing massif and its seal are served from the database, and the next seal writes them again.
 */
export function belongingTo(state: CopiedState): (key: string) => Belonging {
  const logs = new Map(state.logs.map((log) => [log.log, log]));
  const upTo = (number: number, last: number): Belonging => (number <= last ? 'belongs' : 'later');
  return (key) => {
    const [, kind, id = '', digits] = NUMBERED.exec(key) ?? [];
    if (kind === 'seals') return sealOf(id, Number(digits), logs);
    if (kind === 'forks') return logs.has(id) ? upTo(Number(digits), newestGeneration(logs.get(id)!)) : 'not copied';
    if (kind === 'blocks') return upTo(Number(digits), state.lastBlock);
    if (kind === 'key-manifests') return upTo(Number(digits), state.lastManifest);
    const blob = BLOB.exec(key)?.[1];
    if (blob !== undefined) return state.blobs.has(blob) ? 'belongs' : 'not copied';
    return key.startsWith(MASSIFS) ? massifFile(key.slice(MASSIFS.length), logs) : 'not copied';
  };
}

const newestGeneration = ({ forks = [] }: CopiedLog): number => forks.at(-1)?.generation ?? 0;

/** The generation of a log that made one of its seals. */
function generationOf({ forks = [] }: CopiedLog, seal: number): number {
  return forks.findLast((fork) => Number(fork.seal_number) < seal)?.generation ?? 0;
}

/** The id of a log in the keys of its seals: a later generation has keys of its own. */
function sealFolder(log: CopiedLog, seal: number): string {
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
  const head = Math.floor((log.publishedLeaves - 1) / log.massifLeaves);
  return parsed.number < head ? 'belongs' : 'not copied';
}

/** Returns the keys of objects that a copy needs and that are not among these: published seals and blobs. */
export function missingObjects(state: CopiedState, keys: ReadonlySet<string>): string[] {
  const missing: string[] = [];
  for (const log of state.logs)
    for (let number = 1; number <= log.publishedNumber; number += 1) {
      const key = `seals/${sealFolder(log, number)}/${String(number).padStart(16, '0')}`;
      if (!keys.has(key)) missing.push(key);
    }
  for (const blob of state.blobs) if (!keys.has(`blobs/${blob}`)) missing.push(`blobs/${blob}`);
  return missing;
}
