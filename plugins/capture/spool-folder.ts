import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** Extension of a file that waits for the queue; its name is the time of its capture and the id of its job. */
const EXTENSION = '.operation';
/** Extension of a file that is not a valid operation. */
const SET_ASIDE = '.refused';

/** The state of a folder of operations that wait on the local disk. */
export interface SpoolState {
  readonly depth: number;
  /** Seconds since the oldest of them was captured; 0 if there are none. */
  readonly oldestSeconds: number;
  /** Names of files that cannot be read as operations. */
  readonly setAside: readonly string[];
}

/** The folder, within the plugin's own folder, in which operations wait. */
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

/** The names of the files that wait, oldest first; empty if the folder does not exist. */
export function waitingFiles(folder: string): Promise<string[]> {
  return namesIn(folder, EXTENSION);
}

/** Counts the files that wait in a folder and those that are set aside there. */
export async function spoolState(folder: string, nowMs: number): Promise<SpoolState> {
  const waiting = await waitingFiles(folder);
  const capturedMs = Number(/^\d+/.exec(waiting[0] ?? '')?.[0] ?? nowMs);
  const setAside = await namesIn(folder, SET_ASIDE);
  return { depth: waiting.length, oldestSeconds: Math.max(0, (nowMs - capturedMs) / 1000), setAside };
}

/** Sets a file aside for an operator, so that the files behind it are not blocked. */
export async function setFileAside(folder: string, name: string): Promise<void> {
  await rename(join(folder, name), join(folder, name.slice(0, -EXTENSION.length) + SET_ASIDE));
}

/** Retries a file that was set aside. False when there is no file with this name. */
export async function replayFile(folder: string, name: string): Promise<boolean> {
  if (!(await namesIn(folder, SET_ASIDE)).includes(name)) return false;
  await rename(join(folder, name), join(folder, name.slice(0, -SET_ASIDE.length) + EXTENSION));
  return true;
}
