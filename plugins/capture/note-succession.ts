import type { Memory } from '../memory/memory.js';

/** Remembers that vCons go on under another uuid: a redaction or amendment of them leaves the chain in their place. */
export async function noteSuccession(
  memory: Memory,
  predecessors: readonly (string | undefined)[],
  atMs: number,
): Promise<void> {
  for (const uuid of predecessors) if (uuid) await memory.write('tap', uuid, { continued: String(atMs) });
}
