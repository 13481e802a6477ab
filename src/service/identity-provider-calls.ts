import { LRUCache } from 'lru-cache';
import type { Logger } from '../platform/logger.js';
import type { OutsideCalls } from '../platform/outside-calls.js';
import { PublicFailure } from '../platform/public-reason.js';

const MOST_PROVIDERS = 10_000;

/**
 * Records calls to the identity providers of tenancies. As a service outside, they fail only if all that were called do:
 * one tenancy's provider is not the deployment's health. A response with a status of 500 or more is a failure.
 * @param parts.failing receives the number of providers whose last call failed
 */
export function createIdentityProviderCalls(parts: {
  readonly outside: Pick<OutsideCalls, 'report'>;
  readonly logger: Logger;
  readonly failing: (providers: number) => void;
}): (url: string, call: Promise<Response>) => Promise<Response> {
  const { outside, logger } = parts;
  /** The error of the last call, by host. */
  const last = new LRUCache<string, { readonly error: Error | undefined }>({ max: MOST_PROVIDERS });

  function called(url: string, error: Error | undefined): void {
    const host = URL.canParse(url) ? new URL(url).host : '';
    last.set(host, { error });
    const failing = [...last.values()].filter((each) => each.error !== undefined).length;
    parts.failing(failing);
    if (failing < last.size) outside.report('identity_provider', undefined);
    else outside.report('identity_provider', error);
    if (error && failing < last.size) logger.warn({ err: error, host }, 'a call to an identity provider failed');
  }

  return async (url, call) => {
    try {
      const answer = await call;
      called(url, answer.status < 500 ? undefined : new PublicFailure(`it answers with status ${answer.status}`));
      return answer;
    } catch (error) {
      called(url, error as Error);
      throw error;
    }
  };
}
