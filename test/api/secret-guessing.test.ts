import crypto, { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openLinesPerAddress } from '../../src/iam/security/lines-per-address.js';
import { GUESSES, type GuessGuard, openGuessGuard } from '../../src/iam/tokens/guess-guard.js';
import { issueToken } from '../../src/iam/tokens/issue-token.js';
import { createLogger } from '../../src/platform/logger.js';
import { redisUrl } from '../support/prerequisites.js';
import { requestToken, startTestService, type TestService, until } from './test-service.js';

let running: TestService;
beforeAll(async () => {
  running = await startTestService({ TRUST_PROXY: 'loopback' });
});
afterAll(() => running?.close());

const UNKNOWN = randomUUID();

async function newClient() {
  const answer = await running.owner.post('/archivist/iam/v1/applications', { display_name: 'A client' });
  const [credential] = answer.json['credentials'] as { secret: string }[];
  return { clientId: String(answer.json['client_id']), secret: credential!.secret };
}

function ask(clientId: string, secret: string, address: string) {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: secret };
  return requestToken(running.url, form, { 'x-forwarded-for': address });
}

async function guess(clientId: string, address: string, times = GUESSES): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count += 1) statuses.push((await ask(clientId, `guess ${count}`, address)).status);
  return statuses;
}

/** How many keyed hashes and comparisons in constant time something takes. */
async function cryptoWork(work: () => Promise<unknown>): Promise<{ hashes: number; comparisons: number }> {
  const { createHmac, timingSafeEqual } = crypto;
  const counted = { hashes: 0, comparisons: 0 };
  crypto.createHmac = (...args) => {
    counted.hashes += 1;
    return createHmac(...args);
  };
  crypto.timingSafeEqual = (...args) => {
    counted.comparisons += 1;
    return timingSafeEqual(...args);
  };
  syncBuiltinESMExports();
  try {
    await work();
    return counted;
  } finally {
    Object.assign(crypto, { createHmac, timingSafeEqual });
    syncBuiltinESMExports();
  }
}

describe('guessing the secret of a client', () => {
  it('ends after a few wrong ones, even with the right one, and says when to come again', async () => {
    const { clientId, secret } = await newClient();
    expect(await guess(clientId, '192.0.2.1')).toEqual(Array(GUESSES).fill(401));
    const answer = await ask(clientId, secret, '192.0.2.1');
    expect([answer.status, answer.json['error']]).toEqual([429, 'rate_limited']);
    expect(Number(answer.headers.get('archivist-rate-limit-reset'))).toBeGreaterThan(0);
    expect(Number(answer.headers.get('archivist-rate-limit-reset'))).toBeLessThanOrEqual(60);
  });

  it('locks nobody out who calls from elsewhere, nor another client from here', async () => {
    const { clientId, secret } = await newClient();
    await guess(clientId, '192.0.2.2');
    expect((await ask(clientId, secret, '192.0.2.3')).status).toBe(200);
    const other = await newClient();
    expect((await ask(other.clientId, other.secret, '192.0.2.2')).status).toBe(200);
  });

  it('goes no further from the other addresses of an IPv6 network', async () => {
    const { clientId, secret } = await newClient();
    for (let host = 1; host <= GUESSES; host += 1) await guess(clientId, `2001:db8:0:1::${host}`, 1);
    expect((await ask(clientId, secret, '2001:db8:0:1::ffff')).status).toBe(429);
    expect((await ask(clientId, secret, '2001:db8:0:2::1')).status).toBe(200);
  });

  it('counts at the client’s own address where proxies write ports and brackets', async () => {
    const { clientId, secret } = await newClient();
    await guess(clientId, '192.0.2.20:4711');
    expect((await ask(clientId, secret, '192.0.2.20:4712')).status).toBe(429);
    expect((await ask(clientId, secret, '192.0.2.21:4711')).status).toBe(200);
    await guess(clientId, '[2001:db8:0:3::1]:4711');
    expect((await ask(clientId, secret, '2001:db8:0:3::2')).status).toBe(429);
    expect((await ask(clientId, secret, '[2001:db8:0:4::1]')).status).toBe(200);
  });

  it('counts at the address of the connection where the client’s cannot be read', async () => {
    const { clientId, secret } = await newClient();
    await guess(clientId, 'unreadable');
    expect((await ask(clientId, secret, '127.0.0.1')).status).toBe(429);
    // The inner proxy is trusted although the outer one writes its port.
    expect((await ask(clientId, secret, '192.0.2.22, 127.0.0.1:4711')).status).toBe(200);
  });

  it('is answered alike for a client that does not exist', async () => {
    const { clientId } = await newClient();
    const known = [...(await guess(clientId, '192.0.2.4')), (await ask(clientId, 'x', '192.0.2.4')).status];
    const unknown = [...(await guess(UNKNOWN, '192.0.2.4')), (await ask(UNKNOWN, 'x', '192.0.2.4')).status];
    expect(unknown).toEqual(known);
  });

  it('of ever other clients writes ten lines a minute at most about one address', async () => {
    const lines: string[] = [];
    const logger = createLogger('warn', { destination: { write: (line) => lines.push(line) } });
    const { database, keyring, clock, ids } = running.service.parts;
    const guard = { admit: async () => undefined, decide: async () => false, close: () => undefined };
    const deps = { database, keyring, clock, ids, publicUrl: running.url, logger, guard };
    const told = { ...deps, lines: openLinesPerAddress('test', logger) };
    for (let count = 0; count < 30; count += 1)
      for (const address of ['192.0.2.10', '192.0.2.11'])
        await issueToken(told, { clientId: randomUUID(), clientSecrets: ['x'], address });
    for (const address of ['192.0.2.10', '192.0.2.11'])
      expect(lines.filter((line) => JSON.parse(line).security.details.address === address)).toHaveLength(10);
  });

  it('is the same work for a wrong secret, an unknown client and what is no client’s name', async () => {
    const { clientId } = await newClient();
    for (const client of [clientId, randomUUID(), 'nobody'])
      expect(await cryptoWork(() => ask(client, 'x', '192.0.2.9')), client).toEqual({ hashes: 1, comparisons: 1 });
  });

  it('is not slowed down by secrets that are right', async () => {
    const { clientId, secret } = await newClient();
    for (let count = 0; count < GUESSES + 5; count += 1)
      expect((await ask(clientId, secret, '192.0.2.5')).status).toBe(200);
  });

  it('is one entry of the audit a minute, from however many addresses, without the secrets', async () => {
    const { clientId } = await newClient();
    await guess(clientId, '192.0.2.6');
    await guess(clientId, '192.0.2.7');
    const query = `resource=applications/${clientId}&action=token.lockout`;
    const { json, bytes } = await until(
      () => running.owner.get(`/archivist/v1/security_events?${query}`),
      (answer) => (answer.json['security_events'] as unknown[]).length > 0,
      10_000,
    );
    expect(json['security_events']).toHaveLength(1);
    expect(json['security_events']).toMatchObject([
      { attributes: { outcome: 'failure', actor: { subject: clientId }, details: { address: '192.0.2.6' } } },
    ]);
    expect(new TextDecoder().decode(bytes)).not.toContain('guess 1');
  });
});

describe.each([
  { limiter: 'one process', urls: [undefined] },
  { limiter: 'a process with Redis', urls: [redisUrl] },
  { limiter: 'three processes on one Redis', urls: [redisUrl, redisUrl, redisUrl] },
])('secrets of a client that are sent at the same time to $limiter', ({ limiter, urls }) => {
  const needsRedis = urls.length > 1 || limiter.includes('Redis');
  let guards: GuessGuard[] = [];
  beforeAll(async () => {
    const logger = createLogger('silent');
    guards = needsRedis && !redisUrl ? [] : urls.map((url) => openGuessGuard({ redisUrl: url, logger }));
    // Until they have connected, each counts by itself.
    await vi.waitFor(async () => {
      const client = randomUUID();
      for (let count = 0; count < GUESSES; count += 1)
        await guards[count % guards.length]?.decide(client, '192.0.2.1', false);
      for (const guard of guards)
        await expect(guard.admit(client, '192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited' });
    }, 30_000);
  });
  afterAll(() => {
    for (const guard of guards) guard.close();
  });

  /** 'token', 'wrong', or the code of a refusal, for each. */
  function sendAtOnce(clientId: string, secrets: readonly string[], address: string): Promise<string[]> {
    const { database, keyring, clock, ids } = running.service.parts;
    const logger = createLogger('silent');
    const shared = { database, keyring, clock, ids, publicUrl: running.url, logger };
    const deps = guards.map((guard) => ({ ...shared, guard, lines: openLinesPerAddress('test', logger) }));
    const answers = secrets.map(async (clientSecret, count) => {
      const issued = await issueToken(deps[count % deps.length]!, { clientId, clientSecrets: [clientSecret], address });
      return issued ? 'token' : 'wrong';
    });
    return Promise.all(answers.map((answer) => answer.catch((error: { code: string }) => error.code)));
  }

  const wrong = (count: number) => Array.from({ length: count }, (_, index) => `guess ${index}`);

  it.skipIf(needsRedis && !redisUrl)('are locked out after as many as in a row, and the right one too', async () => {
    const { clientId, secret } = await newClient();
    const answers = await sendAtOnce(clientId, [...wrong(40), secret, secret, secret, 'the last'], '192.0.2.12');
    expect(answers.filter((answer) => answer === 'wrong')).toHaveLength(GUESSES);
    expect(answers.filter((answer) => answer === 'rate_limited')).toHaveLength(34);
  });

  it.skipIf(needsRedis && !redisUrl)(
    'are all accepted if they are right, before and after some wrong ones',
    async () => {
      const { clientId, secret } = await newClient();
      const right = Array<string>(5 * GUESSES).fill(secret);
      const tokens = right.map(() => 'token');
      expect(await sendAtOnce(clientId, right, '192.0.2.13')).toEqual(tokens);
      await sendAtOnce(clientId, wrong(GUESSES - 1), '192.0.2.13');
      expect(await sendAtOnce(clientId, right, '192.0.2.13')).toEqual(tokens);
    },
  );

  it.skipIf(needsRedis && !redisUrl)('lock nobody out at another address', async () => {
    const { clientId, secret } = await newClient();
    await sendAtOnce(clientId, wrong(40), '192.0.2.14');
    expect(await sendAtOnce(clientId, [secret], '192.0.2.14')).toEqual(['rate_limited']);
    expect(await sendAtOnce(clientId, [secret], '192.0.2.15')).toEqual(['token']);
  });
});
