import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { testBrowser } from '../support/test-browser.js';
import { type PeopleRig, startPeopleRig } from './people-rig.js';
import { sendRequest } from './send-request.js';
import type { Client } from './test-service.js';

/** A provider that does not name itself in its answers (no RFC 9207), like most large ones. */
interface NamelessProvider {
  readonly issuer: string;
  /** Whether its metadata says that its answers name it. */
  namesItself: boolean;
  /** Where its authorization endpoint sends a browser. */
  answer: (asked: URLSearchParams) => string;
  /** What came to its token endpoint. */
  readonly asked: URLSearchParams[];
  readonly server: Server;
}

const { privateKey } = newKeyPair({ type: 'rsa', bits: 2048 });
const key = { ...(await exportJWK(privateKey)), kid: 'of-the-provider', alg: 'RS256', use: 'sig' };
const codes = new Map<string, URLSearchParams>();

/** Sends the browser back with a code, as its session at the provider allows. */
function honestly(asked: URLSearchParams): string {
  const code = randomUUID();
  codes.set(code, asked);
  return `${asked.get('redirect_uri')}?${new URLSearchParams({ code, state: asked.get('state')! })}`;
}

async function startProvider(): Promise<NamelessProvider> {
  const asked: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, provider.issuer);
    const json = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    const at = (path: string) => `${provider.issuer}${path}`;
    if (url.pathname === '/authorize') response.writeHead(302, { location: provider.answer(url.searchParams) }).end();
    else if (url.pathname === '/jwks')
      json({
        keys: [{ ...key, d: undefined, p: undefined, q: undefined, dp: undefined, dq: undefined, qi: undefined }],
      });
    else if (url.pathname === '/token') {
      let body = '';
      for await (const piece of request) body += String(piece);
      asked.push(new URLSearchParams(body));
      const nonce = codes.get(asked.at(-1)!.get('code')!)?.get('nonce');
      const claims = { nonce, email: 'alice@example.com', email_verified: true };
      const token = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid }).setIssuer(provider.issuer);
      const signed = token.setAudience('console').setSubject('alice').setIssuedAt().setExpirationTime('1h');
      json({ access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token: await signed.sign(privateKey) });
    } else {
      const endpoints = {
        authorization_endpoint: at('/authorize'),
        token_endpoint: at('/token'),
        jwks_uri: at('/jwks'),
      };
      json({
        issuer: provider.issuer,
        ...endpoints,
        authorization_response_iss_parameter_supported: provider.namesItself,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: NamelessProvider = { issuer, asked, server, answer: honestly, namesItself: false };
  return provider;
}

let rig: PeopleRig;
let honest: NamelessProvider;
let evil: NamelessProvider;
let victim: string;
let attacker: string;
let attackersOwner: Client;

async function setProvider(owner: Client, { issuer }: NamelessProvider): Promise<string> {
  const config = { issuer, client_id: 'console', client_secret: 'a secret' };
  await sendRequest(rig.url, owner, 'PATCH', '/archivist/v1/tenancies/self', { enterprise_sso_config: config });
  return String((await owner.get('/archivist/v1/tenancies/self')).json['identity']).slice('tenancies/'.length);
}

beforeAll(async () => {
  [honest, evil] = await Promise.all([startProvider(), startProvider()]);
  rig = await startPeopleRig();
  victim = await setProvider(rig.owner, honest);
  attackersOwner = await rig.running.client({ roles: ['OWNER'], otherTenancy: true });
  attacker = await setProvider(attackersOwner, evil);
});
afterAll(async () => {
  await rig?.close();
  for (const each of [honest, evil]) each?.server.close();
});

describe('providers of several tenancies that do not name themselves in their answers', () => {
  const begin = (tenancy: string) => `${rig.url}/console/sign-in?tenancy=${tenancy}`;

  it('each answer at a redirect URI of its tenancy', async () => {
    const page = await testBrowser().ask(begin(victim));
    const asked = new URL(page.headers.get('location')!).searchParams;
    expect(asked.get('redirect_uri')).toBe(`${rig.url}/console/callback/${victim}`);
    const before = honest.asked.length;
    // Alice was not invited; that is found out with what the provider says of her.
    const { status, text, url } = await testBrowser().open(begin(victim));
    expect([status, honest.asked.length, new URL(url).pathname]).toEqual([
      403,
      before + 1,
      `/console/callback/${victim}`,
    ]);
    expect(text).toContain('href="../sign-in"');
  });

  it.each([
    ['does not name itself', false],
    ['says at first that it names itself', true],
  ])(
    'are not sent the codes of each other, wherever an answer is made to arrive, if one %s',
    async (_, namesItself) => {
      for (const callback of [`${rig.url}/console/callback`, `${rig.url}/console/callback/${victim}`]) {
        evil.namesItself = namesItself;
        // The browser is sent on to the provider of the victim, which has a session of it.
        evil.answer = (asked) => {
          evil.namesItself = false;
          const known = { ...Object.fromEntries(asked), client_id: 'console', redirect_uri: callback };
          return `${honest.issuer}/authorize?${new URLSearchParams(known)}`;
        };
        const { status, url } = await testBrowser().open(begin(attacker));
        expect([status, url.startsWith(`${callback}?code=`), evil.asked]).toEqual([400, true, []]);
      }
    },
  );

  it('do not finish a sign-in that was begun while there was one provider', async () => {
    const enable = (enabled: boolean) =>
      sendRequest(rig.url, attackersOwner, 'PATCH', '/archivist/v1/tenancies/self', {
        enterprise_sso_enabled: enabled,
      });
    expect((await enable(false)).status).toBe(200);
    const browser = testBrowser();
    const begun = await browser.ask(begin(victim));
    const asked = new URL(begun.headers.get('location')!).searchParams;
    expect(asked.get('redirect_uri')).toBe(`${rig.url}/console/callback`);
    expect((await enable(true)).status).toBe(200);
    const before = honest.asked.length;
    expect((await browser.ask(honestly(asked))).status).toBe(400);
    expect(honest.asked).toHaveLength(before);
  });
});
