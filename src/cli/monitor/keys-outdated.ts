import { VerificationError } from '../../core/errors.js';

/** A log is signed with a key that was published after the keys were read: it is to be looked at again with the newer ones. */
export class KeysOutdated extends Error {
  override readonly name = 'KeysOutdated';
}

/** Whether the source of the keys has newer ones by now. Rejects with `LogUnreachable` if it does not answer. */
export type AreKeysOutdated = () => Promise<boolean>;

/**
 * Checks that no newer keys were published since these were read.
 * @param outdated undefined for keys that stay the same
 * @throws {KeysOutdated}
 */
export async function checkNewestKeys(outdated: AreKeysOutdated | undefined): Promise<void> {
  if (await outdated?.()) throw new KeysOutdated('signed with a key of a newer key manifest: looked at again');
}

/**
 * An unknown key contradicts nothing if it is one of newer keys.
 * @param outdated undefined for keys that stay the same
 * @throws {KeysOutdated} if it can be one
 * @throws {LogUnreachable} if nobody knows
 */
export async function checkNotOutdated(error: unknown, outdated: AreKeysOutdated | undefined): Promise<void> {
  if (!(error instanceof VerificationError) || error.code !== 'log_key_not_trusted') return;
  await checkNewestKeys(outdated);
}
