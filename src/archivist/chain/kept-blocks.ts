import type { ObjectStore } from '../../platform/object-store.js';
import type { Block } from './block.js';

function keyOf(chain: string, number: bigint): string {
  return `blocks/${chain}/${number.toString().padStart(16, '0')}`;
}

/**
 * Stores a block's header in the object store under its number. Objects are create-only, so a database restored from an
 * older copy collides with a number that is taken.
 * @throws {Error} when a different block has this number
 */
export async function keepBlock(objectStore: ObjectStore, chain: string, block: Block): Promise<void> {
  if ((await objectStore.putNew(keyOf(chain, block.number), block.header)) === 'different')
    throw new Error(`the object store has another block ${block.number} than the database: the chain is not extended`);
}

/** The header of a block as it was first stored. */
export function keptBlock(objectStore: ObjectStore, chain: string, number: bigint): Promise<Uint8Array | undefined> {
  return objectStore.get(keyOf(chain, number));
}

/** True when a block of this number was ever stored, regardless of the database. */
export async function isBlockKept(objectStore: ObjectStore, chain: string, number: bigint): Promise<boolean> {
  return (await keptBlock(objectStore, chain, number)) !== undefined;
}
