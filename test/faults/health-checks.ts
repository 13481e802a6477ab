import { setTimeout as wait } from 'node:timers/promises';

const ASK_EVERY_MS = 20;
/** A readiness check asks the database. */
const READINESS_EVERY = 10;
/** It waits two seconds for the answer: a busy machine can need longer now and then, but not so often in succession. */
const READY_WITHIN_CHECKS = 5;

/** A health check that was answered; times in Unix milliseconds, which threads can compare. */
export interface HealthCheck {
  readonly begunMs: number;
  readonly endedMs: number;
}

/** Now, in Unix milliseconds with fractions. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

export const durationMs = ({ begunMs, endedMs }: HealthCheck): number => endedMs - begunMs;

async function check(url: string, path: '/healthz' | '/readyz'): Promise<HealthCheck> {
  const begunMs = nowMs();
  const response = await fetch(`${url}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return { begunMs, endedMs: nowMs() };
}

async function isReady(url: string, checks = READY_WITHIN_CHECKS): Promise<void> {
  await check(url, '/readyz').catch((error: unknown) => {
    if (checks === 1) throw error;
    return isReady(url, checks - 1);
  });
}

/**
 * Asks all the time whether a server is alive, and now and then whether it is ready.
 * @returns ends it after one more check, with every check whether it is alive
 * @throws when it is not alive at a check, or not ready at several in succession
 */
export async function askMeanwhile(url: string): Promise<{ end(): Promise<readonly HealthCheck[]> }> {
  // The first one loads what it needs here.
  await check(url, '/healthz');
  let over = false;
  const asking = (async () => {
    const checks: HealthCheck[] = [];
    for (let last = false; !last; await wait(ASK_EVERY_MS)) {
      last = over;
      checks.push(await check(url, '/healthz'));
      if (checks.length % READINESS_EVERY === 0) await isReady(url);
    }
    return checks;
  })();
  asking.catch(() => undefined);
  return {
    end() {
      over = true;
      return asking;
    },
  };
}
