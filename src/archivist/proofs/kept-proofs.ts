import type { Created } from '../../iam/access/owner-and-creator.js';
import { keepUnderKeys } from '../../ledger/kept-under-keys.js';
import type { Keyring } from '../../platform/keys/keyring.js';

/** Most bytes that are kept, with what an entry costs beside its proof. */
const KEPT_BYTES = 16 * 1024 * 1024;
const ENTRY_BYTES = 400;

/** One proof of one event, in the tenancy whose row it proves. */
export interface ProofAddress {
  readonly tenantId: string;
  /** Undefined for an asset-free event. */
  readonly assetId?: string | undefined;
  readonly eventId: string;
  readonly proof: string;
  readonly form: string;
}

/** The bytes of a proof, and the creator of its asset or asset-free event. They do not change while the keys count. */
export interface KeptProof {
  readonly bytes: Uint8Array;
  readonly creator: Created;
}

/**
 * Proofs that were issued, of the keys that count at a look-up. They are kept without access rights: the caller checks
 * them at each request.
 */
export interface KeptProofs {
  find(address: ProofAddress): KeptProof | undefined;
  /** Keeps a proof that was made after this look-up. */
  keep(address: ProofAddress, proof: KeptProof): void;
}

/**
 * Keeps the proofs that were used last, up to 16 MiB. The returned function looks them up: none was made before a key was
 * revoked, or is by a revoked key.
 */
export function createKeptProofs(keyring: Pick<Keyring, 'everyKey'>): () => KeptProofs {
  const kept = keepUnderKeys<KeptProof>(keyring, { maxBytes: KEPT_BYTES, entryBytes: ENTRY_BYTES });
  const nameOf = ({ tenantId, assetId = '-', eventId, proof, form }: ProofAddress): string =>
    [tenantId, assetId, eventId, proof, form].join('/');
  return () => {
    const { find, keep } = kept();
    return {
      find: (address) => find(nameOf(address)),
      keep: (address, proof) => void keep(nameOf(address), proof),
    };
  };
}
