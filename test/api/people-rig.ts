import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import type { Clock } from '../../src/platform/clock.js';
import type { Engine } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { startOpenidProvider, type TestProvider } from '../support/openid-provider.js';
import { type TestBrowser, testBrowser } from '../support/test-browser.js';
import { sendRequest } from './send-request.js';
import { type Client, startTestService, type TestService } from './test-service.js';

/** A service, a mail server, and an OpenID provider that its first tenancy trusts. */
export interface PeopleRig {
  readonly running: TestService;
  readonly url: string;
  readonly owner: Client;
  readonly provider: TestProvider;
  /** E-mails as they came in, the youngest last. */
  readonly mails: { readonly to: readonly string[]; readonly text: string }[];
  /** Invites by e-mail and answers the link in it. */
  invite(email: string): Promise<string>;
  /** A member who has just joined, signed in in a browser of his own. */
  join(account: string, roles?: readonly string[]): Promise<{ identity: string; browser: TestBrowser }>;
  close(): Promise<void>;
}

export async function startPeopleRig(
  environment: Record<string, string> = {},
  engine?: Engine,
  clock?: Clock,
): Promise<PeopleRig> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startOpenidProvider([`${url}/console/callback`]);
  const { mails, smtpUrl, close } = await startMailServer();
  const settings = { PORT: String(port), PRIVATE_IDENTITY_PROVIDERS: 'allow', SMTP_URL: smtpUrl, ...environment };
  const running = await startTestService(settings, engine, clock);
  const { owner } = running;
  await trust(running, owner, provider);
  const invite = async (email: string) => {
    const { status, json } = await owner.post('/archivist/iam/v1/invites', { email });
    if (status !== 200) throw new Error(String(json['description']));
    return linkIn(mails.at(-1)!.text);
  };
  return {
    running,
    url,
    owner,
    provider,
    mails,
    invite,
    async join(account, roles = []) {
      const email = `${account}@example.com`;
      provider.accounts.set(account, { email, email_verified: true, name: `Name of ${account}` });
      const browser = testBrowser();
      const page = await browser.open(await invite(email), account);
      if (page.status !== 200) throw new Error(page.text);
      const member = (await listMembers(owner)).find((each) => each['email'] === email);
      const identity = String(member?.['identity']);
      if (roles.length > 0) await sendRequest(url, owner, 'PATCH', `/archivist/iam/v1/${identity}`, { roles });
      return { identity, browser };
    },
    async close() {
      await running.close();
      await provider.close();
      await close();
    },
  };
}

/** Has the tenancy of an Owner trust a provider. */
export async function trust(
  running: TestService,
  owner: Client,
  provider: TestProvider,
  more: object = {},
): Promise<void> {
  const { issuer, clientId, clientSecret } = provider;
  const config = { issuer, client_id: clientId, client_secret: clientSecret, ...more };
  const { status, json } = await sendRequest(running.url, owner, 'PATCH', '/archivist/v1/tenancies/self', {
    enterprise_sso_config: config,
  });
  if (status !== 200) throw new Error(String(json['description']));
}

export async function listMembers(owner: Client): Promise<Record<string, unknown>[]> {
  const { json } = await owner.get('/archivist/iam/v1/members?member_state=MEMBER_STATE_BOTH');
  return json['members'] as Record<string, unknown>[];
}

/** The link in the text of an e-mail, of which lines may be broken. */
export function linkIn(mail: string): string {
  const text = mail.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  return /http:\S+\/console\/accept-invite\?token=[\w-]+/.exec(text)![0];
}

/** The `.eml` files of a service without a mail server. */
export async function mailsIn(dataDir: string): Promise<string[]> {
  const folder = join(dataDir, 'mail');
  const files = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'));
  return Promise.all(files.sort().map((name) => readFile(join(folder, name), 'utf8')));
}

async function startMailServer() {
  const mails: { to: readonly string[]; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { mails, smtpUrl: `smtp://127.0.0.1:${port}`, close };
}
