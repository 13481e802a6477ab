import { fromBase64, toBase64 } from '../core/bytes.js';
import type { Checkpoint } from '../core/tlog/checkpoint.js';

/** The state of a log that this browser saw last. */
export interface SeenLog {
  readonly size: bigint;
  readonly root: Uint8Array;
  readonly atMs: number;
}

const NAME = 'vcon-archivist.log ';

/** Returns what this browser saw of a log; undefined at the first visit, or where nothing is kept. */
export function seenLog(origin: string): SeenLog | undefined {
  try {
    const [size, root, atMs] = JSON.parse(localStorage.getItem(NAME + origin) ?? '') as [string, string, number];
    return { size: BigInt(size), root: fromBase64(root), atMs: Number(atMs) };
  } catch {
    return undefined;
  }
}

/** Keeps a state for the next visit. @returns false in a browser that refuses storage: it keeps nothing */
export function keepSeen({ origin, size, root }: Checkpoint, atMs: number): boolean {
  try {
    localStorage.setItem(NAME + origin, JSON.stringify([String(size), toBase64(root), atMs]));
    return true;
  } catch {
    // Private windows and strict settings: the page works without.
    return false;
  }
}
