import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports, from which a system chooses (32768 and above on Linux; 49152 in RFC 6335 section 6). */
const [LOWEST, HIGHEST] = [10_000, 32_000];

/** Workers have ports of their own: two of them could find one port free before the first of both listens on it. */
const WORKERS = 8;
const PORTS_OF_WORKER = Math.floor((HIGHEST - LOWEST) / WORKERS);

/** The ports that this worker gave last, some of which may not be listened on yet. */
const given: number[] = [];
const REMEMBERED = PORTS_OF_WORKER / 2;

/**
 * A port of 127.0.0.1 that nothing listens on. One that the system chose would soon be given to another process of the
 * tests, perhaps before the caller listens on it.
 */
export async function freePort(): Promise<number> {
  const first = LOWEST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS) * PORTS_OF_WORKER;
  for (;;) {
    const port = first + randomInt(PORTS_OF_WORKER);
    if (given.includes(port)) continue;
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    await once(server.close(), 'close');
    given.push(port);
    if (given.length > REMEMBERED) given.shift();
    return port;
  }
}
