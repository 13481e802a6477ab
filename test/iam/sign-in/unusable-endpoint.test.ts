import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProvidersToSignIn } from '../../../src/iam/identity-provider/identity-provider-store.js';
import { beginSignIn } from '../../../src/iam/sign-in/sign-in.js';
import { createSignInStates } from '../../../src/iam/sign-in/sign-in-state.js';
import { createOutboundFetch } from '../../../src/platform/http/outbound-fetch.js';
import { createSealedBox } from '../../../src/platform/keys/sealed-box.js';
import { createLogger } from '../../../src/platform/logger.js';
import { sendRequest } from '../../api/send-request.js';
import { startTestService, type TestService } from '../../api/test-service.js';

let running: TestService;
let provider: Server;
let issuer: string;
let endpoint: unknown;

beforeAll(async () => {
  provider = createServer((_, answer) => {
    const document = { issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` };
    answer
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ...document, authorization_endpoint: endpoint }));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  running = await startTestService({ PRIVATE_IDENTITY_PROVIDERS: 'allow' });
  const { status } = await sendRequest(running.url, running.owner, 'PATCH', '/archivist/v1/tenancies/self', {
    enterprise_sso_config: { issuer, client_id: 'console' },
  });
  expect(status).toBe(200);
});
afterAll(async () => {
  await running?.close();
  provider?.close();
});

describe.each([undefined, 5, 'no address', 'javascript:alert(1)', 'data:text/html,x'])(
  'a sign-in at a provider whose authorization_endpoint is %s',
  (named) => {
    it('is a page that says what to do, and one line of the log that says why, without a stack', async () => {
      endpoint = named;
      const answer = await fetch(`${running.url}/console/sign-in`, { redirect: 'manual' });
      const text = await answer.text();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
      expect(answer.headers.get('retry-after')).toBe('30');
      expect(text).toContain('must check its settings');

      const lines: string[] = [];
      const { database, clock, ids } = running.service.parts;
      const pepper = new Uint8Array(32);
      const [trusted] = await database.inTransaction('system', (tx) => findProvidersToSignIn(tx, undefined));
      const box = createSealedBox(pepper, 'sign-in', (count) => ids.randomBytes(count));
      const begun = beginSignIn(
        {
          ...{ database, clock, ids, pepper, publicUrl: running.url, clientSecrets: box, allowPrivate: true },
          logger: createLogger('info', { destination: { write: (line) => lines.push(line) } }),
          states: createSignInStates({ box, publicUrl: running.url, now: () => clock.now() }),
          fetch: createOutboundFetch({ allowPrivate: true }),
        },
        trusted!,
        {},
      );
      await expect(begun).rejects.toMatchObject({ code: 'unavailable' });
      expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
        expect.objectContaining({ level: 40, issuer, reason: expect.stringMatching(/endpoint|HTTP and HTTPS/) }),
      ]);
      expect(lines[0]).not.toContain('stack');
    });
  },
);
