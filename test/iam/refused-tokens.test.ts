import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTellRefusedToken } from '../../src/iam/tokens/tell-refused-token.js';
import { createLogger } from '../../src/platform/logger.js';

let received: IncomingMessage;
const server = createServer((request, response) => {
  received = request;
  response.end();
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}`, { headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' } });
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

describe('a refused access token', () => {
  it('is a line of the log with where it came from, and whose it was when it was revoked; the token is in none', async () => {
    const lines: string[] = [];
    const tell = createTellRefusedToken({
      logger: createLogger('warn', { destination: { write: (line) => lines.push(line) } }),
    });
    tell(received);
    const revoked = { tenantId: 't', issuer: 'i', subject: 's', displayName: 'd', email: '', claims: {} };
    tell(received, revoked);
    await settled();
    expect(lines.map((line) => JSON.parse(line).security)).toMatchObject([
      { action: 'token.refuse', outcome: 'failure', details: { address: '127.0.0.1', reason: 'not valid' } },
      { action: 'token.refuse', tenant_id: 'tenant/t', actor: { subject: 's' }, details: { reason: 'revoked' } },
    ]);
    expect(lines.join()).not.toContain('eyJ');
  });

  it('is told of ten times a minute at most for one address', async () => {
    const lines: string[] = [];
    const tell = createTellRefusedToken({
      logger: createLogger('warn', { destination: { write: (line) => lines.push(line) } }),
    });
    for (let count = 0; count < 50; count += 1) {
      tell(received);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await settled();
    expect(lines).toHaveLength(10);
  });
});
