import type { KeyPairKeyObjectResult } from 'node:crypto';
import { newKeyPairApart } from '../../src/platform/keys/new-key-pair.js';

/** RSA pairs of this worker that nobody has now: to find the primes of one takes a quarter of a second of the processor. */
const free: KeyPairKeyObjectResult[] = [];
const BITS = 2048;

/** New key pairs for one service. Its RSA pairs are lent: who has some at the same time has others. */
export interface LentKeyPairs {
  readonly newKeyPair: typeof newKeyPairApart;
  /** For when the service has closed. */
  giveBack(): void;
}

export function lendKeyPairs(): LentKeyPairs {
  const lent: KeyPairKeyObjectResult[] = [];
  return {
    async newKeyPair(kind) {
      if (kind.type !== 'rsa' || kind.bits !== BITS) return newKeyPairApart(kind);
      const pair = free.pop() ?? (await newKeyPairApart(kind));
      lent.push(pair);
      return pair;
    },
    giveBack: () => void free.push(...lent.splice(0)),
  };
}
