import { type AttemptLimiter, openAttemptLimiter } from '../../platform/attempt-limiter.js';
import { retryLater } from '../../platform/errors.js';
import type { Logger } from '../../platform/logger.js';

/** Wrong secrets of one client from one address that lock it out for the rest of the window. */
export const GUESSES = 10;
const WINDOW_SECONDS = 60;

/** Locks out guessers per address, so that nobody can lock out a client that calls from another address. */
export interface GuessGuard {
  /** @throws {ApiError} rate_limited while the client is locked out at this address */
  admit(clientId: string, address: string): Promise<void>;
  /**
   * Decides about a secret that was compared, and counts a wrong one, in one step for all processes: a right one among
   * many at the same time does not overtake the wrong ones that came before it. True if a wrong one locked the client
   * out at this address; at most once a minute for each client.
   * @throws {ApiError} rate_limited if the client was locked out at this address before
   */
  decide(clientId: string, address: string, isRight: boolean): Promise<boolean>;
  close(): void;
}

/**
 * Counted by Redis for all processes, or without Redis in this process. Unknown clients are counted like existing ones.
 */
export function openGuessGuard(shared: { readonly redisUrl: string | undefined; readonly logger: Logger }): GuessGuard {
  const guesses = openAttemptLimiter({ ...shared, name: 'guess', attempts: GUESSES, seconds: WINDOW_SECONDS });
  // A guesser with many addresses must not fill the client's audit.
  const told: AttemptLimiter = openAttemptLimiter({ ...shared, name: 'lockout', attempts: 1, seconds: WINDOW_SECONDS });
  const keyOf = (clientId: string, address: string) => `${clientId} ${address}`;
  return {
    async admit(clientId, address) {
      refuse(await guesses.shutFor(keyOf(clientId, address)));
    },
    async decide(clientId, address, isRight) {
      const { shutFor, fills } = await guesses.count(keyOf(clientId, address), isRight ? 0 : 1);
      refuse(shutFor);
      return fills && (await told.count(clientId)).fills;
    },
    close() {
      guesses.close();
      told.close();
    },
  };
}

function refuse(shutForMs: number | undefined): void {
  if (shutForMs === undefined) return;
  throw retryLater(
    'rate_limited',
    'Too many wrong secrets for this client from this address. Wait, then try again.',
    shutForMs / 1000,
  );
}
