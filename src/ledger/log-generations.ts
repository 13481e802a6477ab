import type { ObjectStore } from '../platform/object-store.js';
import { currentGeneration, type LogState } from './log.js';
import { forkObjectKey } from './seal-object.js';

/** The end of a generation of a log, as far as the database knows it. */
interface EndedGeneration {
  readonly sealNumber: bigint;
  readonly leaves: bigint;
}

/** Where a generation of a log ended; undefined for the one that it is in, and for one that the database never had. */
export function endOfGeneration({ forks }: LogState, generation: number): EndedGeneration | undefined {
  const known = generation === 0 ? -1 : forks.findIndex((fork) => fork.generation === generation);
  return generation === 0 || known >= 0 ? forks[known + 1] : undefined;
}

/** A generation of a log in a path: `<uuid>` is the newest one, `<uuid>.<generation>` one that ended. */
interface LogInPath {
  readonly uuid: string;
  readonly generation: number | undefined;
}

/** Reads the last part of such a path; undefined if it is not one. */
export function parseLogInPath(text: string): LogInPath | undefined {
  const [, uuid, generation] =
    /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.(0|[1-9]\d{0,8}))?$/i.exec(text) ?? [];
  if (uuid === undefined) return undefined;
  return { uuid: uuid.toLowerCase(), generation: generation === undefined ? undefined : Number(generation) };
}

/** The fork statements of all generations of a log, oldest first; empty if it was never forked. */
export async function forkStatements(objectStore: ObjectStore, log: LogState): Promise<Uint8Array[]> {
  const statements: Uint8Array[] = [];
  for (let generation = 1; generation <= currentGeneration(log); generation += 1) {
    const statement = await objectStore.get(forkObjectKey(log.logId, generation));
    if (statement) statements.push(statement);
  }
  return statements;
}
