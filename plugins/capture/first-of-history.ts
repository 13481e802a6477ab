import type { Memory } from '../memory/memory.js';

/**
 * The first vCon of the history that contains this one, as far as it is known by now: an amended vCon may be captured
 * after the one that redacts it.
 */
export async function firstOfHistory(memory: Memory, uuid: string): Promise<string> {
  const followed = new Set<string>();
  let first = uuid;
  while (!followed.has(first)) {
    followed.add(first);
    first = (await memory.read('vcons', first))['history'] ?? first;
  }
  return first;
}
