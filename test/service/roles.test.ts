import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { toBase64Url } from '../../src/core/bytes.js';
import { Header } from '../../src/core/cose/labels.js';
import { decodeSign1 } from '../../src/core/cose/sign1.js';
import { type Client, clientWith, requestToken, template, until } from '../api/test-service.js';
import { freshVcon, report } from '../plugins/plugin-rig.js';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { commandLine } from '../support/command-line.js';
import { engines, type Place } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { serverUrl } from '../support/prerequisites.js';

const LISTENS = /^vcon-archivist listens on (\S+) \(role (\w+)\)(?:, its conserver plugin on (\S+))?$/m;
const PUBLIC_URL = 'http://archivist.example';
const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-0000000000bb';
/** For a machine that does much else; the bench measures how long it takes. */
const WITHIN_MS = 30_000;
const LONG = 180_000;

/** A running process of the service. */
interface Running {
  readonly program: BuiltProgram;
  readonly url: string;
  readonly linkUrl: string | undefined;
}

async function start(environment: Record<string, string>): Promise<Running> {
  const program = startBuilt('main', { PUBLIC_URL, PORT: '0', PLUGIN_PORT: '0', ...environment });
  const [, url, , linkUrl] = await program.says(LISTENS);
  await program.says(/Stop with/);
  return { program, url: url!, linkUrl };
}

async function stop({ program }: Running): Promise<void> {
  program.signal('SIGTERM');
  expect(await program.ended).toBe(0);
}

async function ownerOf(url: string, credentials: { client_id: string; client_secret: string }): Promise<Client> {
  const { client_id, client_secret } = credentials;
  const { status, json } = await requestToken(url, { grant_type: 'client_credentials', client_id, client_secret });
  expect(status).toBe(200);
  return clientWith(url, String(json['access_token']), client_id);
}

/** Posts an event and answers its path. */
async function post(client: Client): Promise<string> {
  const asset = await client.post('/archivist/v2/assets', { attributes: { subject: SUBJECT } });
  const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(SUBJECT) };
  const { status, json } = await client.post(`/archivist/v2/${String(asset.json['identity'])}/events`, event);
  expect(status).toBe(200);
  return `/archivist/v2/${String(json['identity'])}`;
}

async function expectConfirmed(client: Client, path: string): Promise<void> {
  const { json } = await until(
    () => client.get(path),
    (answer) => answer.json['confirmation_status'] === 'CONFIRMED',
    WITHIN_MS,
  );
  expect(json['confirmation_status']).toBe('CONFIRMED');
}

afterAll(killBuilt);

describe.skipIf(!serverUrl)('one deployment in three processes', { timeout: LONG }, () => {
  const made = () => ({ client_id: randomUUID(), client_secret: `${randomUUID()}${randomUUID()}` });
  const [credentials, plugin] = [made(), made()];
  let place: Place;
  let shared: Record<string, string>;
  let [api, ledger]: Running[] = [];
  let owner: Client;

  /** Every process has a folder of its own, as on a machine of its own. */
  const role = (ROLE: string, more: Record<string, string> = {}): Record<string, string> => ({
    ...shared,
    DATA_DIR: join(place.environment.DATA_DIR, ROLE),
    ROLE,
    ...more,
  });

  beforeAll(async () => {
    place = await engines()[1]!.place();
    const { DATA_DIR, DATABASE_URL } = place.environment;
    shared = {
      DATABASE_URL: DATABASE_URL!,
      KEYS_DIR: join(DATA_DIR, 'keys'),
      OBJECT_STORE_URL: pathToFileURL(join(DATA_DIR, 'objects')).href,
      BOOTSTRAP_CLIENT_ID: credentials.client_id,
      BOOTSTRAP_CLIENT_SECRET: credentials.client_secret,
      BOOTSTRAP_PLUGIN_CLIENT_ID: plugin.client_id,
      BOOTSTRAP_PLUGIN_CLIENT_SECRET: plugin.client_secret,
    };
    [api, ledger] = await Promise.all([start(role('api')), start(role('ledger'))]);
    owner = await ownerOf(api.url, credentials);
  }, LONG);
  afterAll(async () => {
    await Promise.all([api, ledger].map((each) => each && stop(each)));
    await place?.remove();
  });

  const keysCommand = (...args: string[]) =>
    commandLine(['keys', ...args], { KEYS_DIR: shared['KEYS_DIR']!, PUBLIC_URL: api!.url });

  it('the application that is given for a plugin can record, and has no role', async () => {
    const its = await ownerOf(api!.url, plugin);
    await expectConfirmed(its, await post(its));
    expect((await its.get('/archivist/iam/v1/applications')).status).toBe(403);
  });

  it('what the api accepts is sealed by the ledger, and proven by the api', async () => {
    const path = await post(owner);
    await expectConfirmed(owner, path);
    expect((await owner.get(`${path}/transparent-statement`)).status).toBe(200);
    const { json } = await owner.get(path);
    const log = `/verifiabledata/merklelogs/v1/mmrs/${String(json['tenant_identity'])}/0`;
    for (const file of ['massifs/0000000000000000.log', 'massifseals/0000000000000000.sth'])
      expect((await owner.get(`${log}/${file}`)).status).toBe(200);
  });

  it('while the ledger is away the api accepts, and the ledger seals that when it is back', async () => {
    await stop(ledger!);
    const path = await post(owner);
    const health = await owner.get('/readyz');
    expect([health.status, (health.json as { ready: boolean }).ready]).toEqual([200, true]);
    expect((await owner.get(path)).json['confirmation_status']).toBe('STORED');
    ledger = await start(role('ledger'));
    // Nobody is sent to a file that is not there.
    expect(ledger.program.written.out).toMatch(
      /^First Owner: created at an earlier start \(its credentials are not in /m,
    );
    await expectConfirmed(owner, path);
  });

  it('only the api serves the interface; the others tell how they are', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await fetch(`${ledger!.url}${path}`)).status).toBe(200);
    expect((await clientWith(ledger!.url, owner.token).get('/archivist/v2/assets')).status).toBe(404);
  });

  it('only a process with sequencers reports their lag, so that an alert notices that none runs', async () => {
    const reports = async ({ url }: Running) =>
      /^archivist_sequencer_lag_seconds \d/m.test(await (await fetch(`${url}/metrics`)).text());
    await vi.waitFor(async () => expect(await reports(ledger!)).toBe(true), WITHIN_MS);
    expect(await reports(api!)).toBe(false);
  });

  it('a key rotated at the api stays pending until the ledger has adopted it, and then the ledger seals with it', async () => {
    type Listed = { readonly key_id: string; readonly role: string; readonly state: string };
    const sealKeys = async (): Promise<Readonly<Record<string, string>>> => {
      const { keys } = JSON.parse((await keysCommand('list', '--json')).out) as { keys: Listed[] };
      return Object.fromEntries(keys.filter((key) => key.role === 'seal').map((key) => [key.state, key.key_id]));
    };
    ledger!.program.signal('SIGSTOP');
    const rotation = keysCommand('rotate', 'seal');
    const listed = await vi.waitFor(async () => {
      const keys = await sealKeys();
      expect(keys['pending']).toBeDefined();
      return keys;
    }, WITHIN_MS);
    await wait(3_000);
    expect(await sealKeys()).toEqual(listed);
    ledger!.program.signal('SIGCONT');
    expect((await rotation).exitCode).toBe(0);
    // A busy machine can need more than the time for which the command waits.
    if ((await sealKeys())['pending'] !== undefined) expect((await keysCommand('rotate', 'seal')).exitCode).toBe(0);
    expect(await sealKeys()).toEqual({ active: listed['pending'], retired: listed['active'] });
    // Each process adopts a manifest within seconds; until then the ledger seals with the retired key.
    await vi.waitFor(async () => {
      const path = await post(owner);
      await expectConfirmed(owner, path);
      const { bytes } = await owner.get(`${path}/receipt`);
      const kid = decodeSign1(bytes).protectedHeader.get(Header.kid) as Uint8Array;
      expect(toBase64Url(kid)).toBe(listed['pending']);
    }, WITHIN_MS);
  });

  it('the worker delivers through the api what a conserver reports', async () => {
    const PLUGIN_PORT = String(await freePort());
    const worker = await start(role('worker', { PLUGIN_PORT, ARCHIVIST_URL: api!.url }));
    const { subject } = await report(`${worker.linkUrl}/operations/vcon_created?chain=main&link=first`, freshVcon());
    const search = `/archivist/v2/assets/-/events?event_attributes.subject=${encodeURIComponent(subject)}`;
    const events = async () => (await owner.get(search)).json['events'] as { identity: string; operation: string }[];
    const { json } = await until(
      () => owner.get(search),
      (answer) => (answer.json['events'] as unknown[]).length > 0,
      WITHIN_MS,
    );
    const [event] = json['events'] as { identity: string }[];
    await expectConfirmed(owner, `/archivist/v2/${event!.identity}`);
    expect((await events()).filter((each) => each.operation === 'Record')).toHaveLength(1);
    await stop(worker);
  });

  it('a worker that knows no credentials says so and ends', async () => {
    const nobody = { BOOTSTRAP_CLIENT_ID: '', BOOTSTRAP_CLIENT_SECRET: '' };
    const PLUGIN_PORT = String(await freePort());
    const given = role('worker', { PORT: '0', PUBLIC_URL, PLUGIN_PORT, ARCHIVIST_URL: api!.url });
    const stranger = startBuilt('main', { ...given, ...nobody });
    expect(await stranger.ended).toBe(1);
    expect(stranger.written.err).toMatch(/^[^\n]+needs ARCHIVIST_CLIENT_ID and ARCHIVIST_CLIENT_SECRET\n$/);
  });
});

describe.each(engines())('a second start on the data of the first, on %s', (engine) => {
  let place: Place;
  let environment: Record<string, string>;

  beforeAll(async () => {
    place = await engine.place();
    environment = { ...place.environment };
  });
  afterAll(() => place?.remove());

  it('tokens, receipts, keys and credentials.json stay good', { timeout: LONG }, async () => {
    const readCredentials = () => readFile(join(environment['DATA_DIR']!, 'credentials.json'), 'utf8');
    const first = await start(environment);
    expect(first.program.written.out).toMatch(/^First Owner: client id \S+, secret written to \S+credentials\.json$/m);
    const credentials = await readCredentials();
    const early = await ownerOf(first.url, JSON.parse(credentials));
    const path = await post(early);
    await expectConfirmed(early, path);
    const proofs = async (client: Client) =>
      Promise.all(
        [`${path}/receipt`, `${path}/transparent-statement`, '/.well-known/scitt-keys', '/.well-known/jwks.json'].map(
          async (each) => {
            const { status, bytes } = await client.get(each);
            return [each, status, Buffer.from(bytes).toString('hex')];
          },
        ),
      );
    const before = await proofs(early);
    expect(before.map(([, status]) => status)).toEqual([200, 200, 200, 200]);
    await stop(first);

    const second = await start(environment);
    expect(second.program.written.out).toMatch(/^First Owner: created at an earlier start/m);
    expect(await readCredentials()).toBe(credentials);
    const same = clientWith(second.url, early.token);
    expect(await proofs(same)).toEqual(before);
    await ownerOf(second.url, JSON.parse(credentials));
    await expectConfirmed(same, await post(same));
    await stop(second);
  });
});

describe('a role of its own', () => {
  it('is refused on an embedded database', async () => {
    const DATA_DIR = await mkdtemp(join(inject('runFolder'), 'role-'));
    const alone = startBuilt('main', { DATA_DIR, PUBLIC_URL, ROLE: 'ledger' });
    expect(await alone.ended).toBe(2);
    expect(alone.written.err).toContain('needs DATABASE_URL');
  });
});
