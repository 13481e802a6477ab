import type { SealedMassif } from '../verify/verify-log.js';
import { UsageError } from './usage-error.js';

/** The files of one log in a folder, in log order. */
export interface ReplicaLog {
  /** Path of the folder that holds `massifs` and `massifseals`. */
  readonly path: string;
  /** Numbers of the massifs, without a gap. */
  readonly numbers: readonly number[];
  /** One massif and its seal. @throws {UsageError} if one of them is missing */
  read(number: number): Promise<SealedMassif>;
}

/** A folder that holds the files of logs. */
export interface Replica {
  readonly logs: readonly ReplicaLog[];
  /** Paths of all other files. Nothing reads them. */
  readonly others: readonly string[];
}

const MASSIF = /^(?:(.*)\/)?massifs\/(\d{16})\.log$/;

/** Whether there are the files of a log among these paths. */
export function hasReplica(paths: readonly string[]): boolean {
  return paths.some((path) => MASSIF.test(path));
}

/**
 * Returns the logs among the files of a folder, at any depth: `massifs/<16 digits>.log` beside
 * `massifseals/<16 digits>.sth`, as replication tools lay them out; and the paths that belong to no log.
 * @param paths inside the folder, with `/` between
 * @param read returns the content of one of them
 * @throws {UsageError} when there is none, or a massif is missing between two others
 */
export function replicaIn(
  folder: string,
  paths: readonly string[],
  read: (path: string) => Promise<Uint8Array>,
): Replica {
  const numbersIn = new Map<string, number[]>();
  const others = new Set(paths);
  for (const path of paths) {
    const [, log = '', number] = MASSIF.exec(path) ?? [];
    if (number === undefined) continue;
    numbersIn.set(log, [...(numbersIn.get(log) ?? []), Number(number)]);
    for (const own of [path, placeIn(log, sealName(number))]) others.delete(own);
  }
  if (numbersIn.size === 0)
    throw new UsageError(`${folder} contains no evidence: neither the files of a bundle nor massifs/<16 digits>.log`);
  const known = new Set(paths);
  const logs = [...numbersIn].map(([log, found]) => replicaLog(folder, log, found, known, read));
  return { logs, others: [...others] };
}

const placeIn = (log: string, name: string): string => (log === '' ? name : `${log}/${name}`);

const sealName = (digits: string): string => `massifseals/${digits}.sth`;

function replicaLog(
  folder: string,
  log: string,
  found: readonly number[],
  known: ReadonlySet<string>,
  read: (path: string) => Promise<Uint8Array>,
): ReplicaLog {
  const path = log === '' ? folder : `${folder}/${log}`;
  const numbers = found.toSorted((left, right) => left - right);
  const first = numbers[0]!;
  const gap = numbers.findIndex((number, place) => number !== first + place);
  if (gap >= 0) throw new UsageError(`massif ${first + gap} is missing in ${path}`);
  const file = (name: string) => {
    const place = placeIn(log, name);
    if (!known.has(place)) throw new UsageError(`${name} is missing in ${path}`);
    return read(place);
  };
  return {
    path,
    numbers,
    async read(number) {
      const digits = String(number).padStart(16, '0');
      return { massif: await file(`massifs/${digits}.log`), seal: await file(sealName(digits)) };
    },
  };
}
