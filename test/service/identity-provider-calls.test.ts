import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createOutsideCalls } from '../../src/platform/outside-calls.js';
import { createIdentityProviderCalls } from '../../src/service/identity-provider-calls.js';

const silent = pino({ level: 'silent' });

function rig() {
  const counts: number[] = [];
  const nothing = () => undefined;
  const outside = createOutsideCalls({ now: () => 1, logger: silent, failed: nothing, changed: nothing });
  const record = createIdentityProviderCalls({ outside, logger: silent, failing: (count) => counts.push(count) });
  return {
    counts,
    answers: (host: string, status = 200) =>
      record(`https://${host}/keys`, Promise.resolve(new Response(null, { status }))),
    fails: (host: string) => record(`https://${host}/keys`, Promise.reject(new Error('dead'))).catch(() => undefined),
    state: () => outside.states().find(({ service }) => service === 'identity_provider')?.failingSinceMs,
  };
}

describe('the identity providers of tenancies', () => {
  it('do not count as failing when one of them does, and the metric says how many', async () => {
    const { answers, fails, state, counts } = rig();
    await answers('one.example');
    await fails('two.example');
    await fails('two.example');
    expect([state(), counts.at(-1)]).toEqual([undefined, 1]);
    await answers('two.example');
    expect(counts.at(-1)).toBe(0);
  });

  it('count as failing when they answer with an error of their own, and not when they refuse a request', async () => {
    const { answers, state } = rig();
    expect((await answers('one.example', 503)).status).toBe(503);
    expect(state()).toBe(1);
    await answers('one.example', 401);
    expect(state()).toBeUndefined();
  });

  it('count as failing when all that were called do, until one answers', async () => {
    const { answers, fails, state, counts } = rig();
    await fails('one.example');
    await fails('two.example');
    expect([state(), counts.at(-1)]).toEqual([1, 2]);
    await answers('two.example');
    expect([state(), counts.at(-1)]).toEqual([undefined, 1]);
  });
});
