import { VerificationError } from '../core/errors.js';
import type { GivenTrust } from '../core/evidence/given-trust.js';
import { UsageError } from '../core/evidence/usage-error.js';
import { decodeVkey, NoteKeyType } from '../core/tlog/signed-note.js';

/** The options that name the witnesses which the user trusts. */
export interface WitnessOptions {
  readonly witness?: readonly string[];
  readonly witnessQuorum?: string;
}

/** The witnesses that the user trusts, and how many of them must have cosigned. */
export type NamedWitnesses = Pick<GivenTrust, 'witnesses' | 'quorum'>;

/**
 * Returns distinct keys, so that no witness counts twice. All must have cosigned unless `--witness-quorum` is lower.
 * @throws {UsageError}
 */
export function namedWitnesses({ witness = [], witnessQuorum }: WitnessOptions): NamedWitnesses {
  const read = witness.map((vkey) => {
    try {
      return decodeVkey(vkey);
    } catch (error) {
      if (error instanceof VerificationError) throw new UsageError(`--witness: ${error.message}`);
      throw error;
    }
  });
  if (read.some(({ type }) => type !== NoteKeyType.cosignature))
    throw new UsageError(
      '--witness: one of the keys belongs to a log, not to a witness; give cosignature keys (type 0x04)',
    );
  const witnesses = [...new Map(read.map((key) => [key.publicKey.join(), key])).values()];
  if (witnessQuorum !== undefined && witnesses.length === 0)
    throw new UsageError('--witness-quorum needs --witness: give the key of each witness');
  const quorum = witnessQuorum === undefined ? witnesses.length : Number(witnessQuorum);
  if (!Number.isInteger(quorum) || quorum < Math.min(1, witnesses.length) || quorum > witnesses.length)
    throw new UsageError(`--witness-quorum must be from 1 to ${witnesses.length}, the number of witnesses given`);
  return { witnesses, quorum };
}
