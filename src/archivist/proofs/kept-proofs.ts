import { LRUCache } from 'lru-cache';
import type { Created } from '../../iam/access/owner-and-creator.js';
import { countedKeys } from '../../ledger/log-keys.js';
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

/** Proofs that were issued. They are kept without access rights: the caller of `find` checks them at each request. */
export interface KeptProofs {
  find(address: ProofAddress): KeptProof | undefined;
  keep(address: ProofAddress, proof: KeptProof): void;
}

/** Keeps the proofs that were used last, up to 16 MiB; none from before a key was revoked. */
export function createKeptProofs(keyring: Pick<Keyring, 'everyKey'>): KeptProofs {
  const kept = new LRUCache<string, KeptProof>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
  });
  const keyOf = ({ tenantId, assetId = '-', eventId, proof, form }: ProofAddress): string =>
    [tenantId, assetId, eventId, proof, form, ...countedKeys(keyring).revoked].join('/');
  return {
    find: (address) => kept.get(keyOf(address)),
    keep: (address, proof) => void kept.set(keyOf(address), proof),
  };
}
