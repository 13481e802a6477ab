import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Observation } from '../operation/capture-sequence.js';

/** Extension of a file that waits for the queue; its name is the time of its capture and the id of its job. */
const EXTENSION = '.operation';
/** The same if the clock was wrong: the time in its name is that of a capture before, or 0. */
const UNTIMED = `.untimed${EXTENSION}`;
/** Extension of a file that is not a valid operation. */
const SET_ASIDE = '.refused';

/** The state of a folder of operations that wait on the local disk. */
export interface SpoolState {
  readonly depth: number;
  /** Age in seconds of the oldest one whose time of capture is known; 0 if there is none. */
  readonly oldestSeconds: number;
  /** Names of files that cannot be read as operations. */
  readonly setAside: readonly string[];
}

/** The folder, within the plugin's own folder, in which operations wait. */
export function spoolFolder(pluginFolder: string): string {
  return join(pluginFolder, 'spool');
}

/** The path of an operation's file; files sort in the order of capture. */
export function spoolPath(folder: string, { sequence, clockWrong }: Observation, job: string): string {
  return join(folder, `${sequence}-${job}${clockWrong ? UNTIMED : EXTENSION}`);
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

/**
 * Counts the files that wait in a folder and those that are set aside there.
 * @param nowMs NaN if the clock is wrong: then the age of a file is NaN too
 */
export async function spoolState(folder: string, nowMs: number): Promise<SpoolState> {
  const waiting = await waitingFiles(folder);
  const capturedMs = /^\d+/.exec(waiting.find((name) => !name.endsWith(UNTIMED)) ?? '')?.[0];
  const oldestSeconds = capturedMs === undefined ? 0 : Math.max(0, (nowMs - Number(capturedMs)) / 1000);
  const setAside = await namesIn(folder, SET_ASIDE);
  return { depth: waiting.length, oldestSeconds, setAside };
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
