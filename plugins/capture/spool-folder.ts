import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** Name of a file that waits for the queue: when it was captured, and the id of its job. */
const EXTENSION = '.operation';
/** Name of a file that is no operation. */
const SET_ASIDE = '.refused';

/** How a folder of operations that wait on this disk stands. */
export interface SpoolState {
  readonly depth: number;
  /** Seconds since the oldest of them was captured; 0 when there is none. */
  readonly oldestSeconds: number;
  /** Names of files that cannot be read as operations. */
  readonly setAside: readonly string[];
}

/** The folder of a plugin's own folder in which operations wait. */
export function spoolFolder(pluginFolder: string): string {
  return join(pluginFolder, 'spool');
}

/** The path of an operation's file; files sort in the order of capture. */
export function spoolPath(folder: string, sequence: string, job: string): string {
  return join(folder, `${sequence}-${job}${EXTENSION}`);
}

async function namesIn(folder: string, extension: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(extension)).sort();
}

/** The names of the files that wait, the oldest first; none where there is no folder. */
export function waitingFiles(folder: string): Promise<string[]> {
  return namesIn(folder, EXTENSION);
}

/** Counts what waits in a folder, and what is set aside there. */
export async function spoolState(folder: string, nowMs: number): Promise<SpoolState> {
  const waiting = await waitingFiles(folder);
  const capturedMs = Number(/^\d+/.exec(waiting[0] ?? '')?.[0] ?? nowMs);
  const setAside = await namesIn(folder, SET_ASIDE);
  return { depth: waiting.length, oldestSeconds: Math.max(0, (nowMs - capturedMs) / 1000), setAside };
}

/** Lets those behind it go on: an operator looks at the file. */
export async function setFileAside(folder: string, name: string): Promise<void> {
  await rename(join(folder, name), join(folder, name.slice(0, -EXTENSION.length) + SET_ASIDE));
}

/** Has a file that was set aside tried again. False when there is none of this name. */
export async function replayFile(folder: string, name: string): Promise<boolean> {
  if (!(await namesIn(folder, SET_ASIDE)).includes(name)) return false;
  await rename(join(folder, name), join(folder, name.slice(0, -SET_ASIDE.length) + EXTENSION));
  return true;
}
