import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports, from which a system chooses (32768 and above on Linux; 49152 in RFC 6335 section 6). */
const [LOWEST, HIGHEST] = [10_000, 32_000];

/**
 * A port of 127.0.0.1 that nothing listens on. One that the system chose would soon be given to another process of the
 * tests, perhaps before the caller listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue;
      throw error;
    }
    await once(server.close(), 'close');
    return port;
  }
}
