import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPluginSettings } from '../../plugins/settings/plugin-settings.js';
import { type Identity, makeCertificate } from '../api/test-certificates.js';
import { freshVcon, type OpenBackend, openBackend, type Rig, startRig } from './plugin-rig.js';

/** The certificate of the test names no address. */
const checkServerIdentity = () => undefined;

describe('the receiver with TLS', () => {
  let folder: string;
  let open: OpenBackend;
  let rig: Rig;
  let authority: Identity;
  let conserver: Identity;
  let stranger: Identity;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plugin-tls-'));
    authority = await makeCertificate({ name: 'CN=authority', ca: true });
    conserver = await makeCertificate({ name: 'CN=conserver', issuer: authority });
    stranger = await makeCertificate({ name: 'CN=stranger' });
    const own = await makeCertificate({ name: 'CN=plugin', issuer: authority, usages: [] });
    const file = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    const tls = {
      certFile: await file('cert.pem', own.pem),
      keyFile: await file('key.pem', own.keyPem),
      clientCaFile: await file('ca.pem', authority.pem),
    };
    open = await openBackend('embedded');
    rig = await startRig(open.backend, { settings: { tls } });
  });
  afterAll(async () => {
    await rig.close();
    await open.close();
    await rm(folder, { recursive: true });
  });

  function post(client: Partial<Identity>): Promise<number | string> {
    const { pem: cert, keyPem: key } = client;
    const options: RequestOptions = {
      method: 'POST',
      ca: authority.pem,
      checkServerIdentity,
      agent: false,
      ...(cert ? { cert, key } : {}),
    };
    return new Promise((resolve) => {
      const sent = request(`${rig.url}/operations/vcon_created`, options, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode!));
      });
      sent.on('error', () => resolve('refused'));
      sent.end(freshVcon());
    });
  }

  it('lets in who has a certificate of the authority, and nobody else', async () => {
    expect(rig.url).toMatch(/^https:/);
    expect(await post(conserver)).toBe(202);
    expect(await post({})).toBe('refused');
    expect(await post(stranger)).toBe('refused');
  });

  it.each(['', 'no certificate'])('does not start with a PLUGIN_TLS_CLIENT_CA that has the text "%s"', async (text) => {
    const clientCaFile = join(folder, 'other-ca.pem');
    await writeFile(clientCaFile, text);
    const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem'), clientCaFile };
    await expect(startRig(open.backend, { settings: { tls } })).rejects.toThrow(
      /^PLUGIN_TLS_CLIENT_CA .*other-ca.pem must have a certificate in PEM/,
    );
  });

  it('may listen beyond this machine without a secret when it asks for certificates, and only then', () => {
    const settings = { archivistUrl: 'http://a', clientId: 'a', clientSecret: 'b', host: '0.0.0.0', port: 0 };
    const tls = { certFile: 'a', keyFile: 'b', clientCaFile: undefined };
    expect(() => checkPluginSettings({ ...settings, tls })).toThrow(/PLUGIN_SECRET/);
    expect(checkPluginSettings({ ...settings, tls: { ...tls, clientCaFile: 'c' } }).host).toBe('0.0.0.0');
  });
});

describe('tenancies', () => {
  it('are delivered for each in its own name, and an unknown one is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plugin-tenancies-'));
    const tenanciesFile = join(folder, 'tenancies.json');
    await writeFile(tenanciesFile, JSON.stringify({ north: { client_id: 'north-id', client_secret: 'north-secret' } }));
    const open = await openBackend('embedded');
    const rig = await startRig(open.backend, { settings: { tenanciesFile } });
    const vcon = freshVcon();
    const posted = [
      await rig.post('/operations/sent', vcon),
      await rig.post('/tenancies/north/operations/sent', vcon),
      await rig.post('/operations/sent', vcon, { 'x-vcon-tenancy': 'south' }).catch(() => undefined),
    ];
    expect(posted.map((answer) => answer?.status)).toEqual([202, 202, undefined]);
    const clients = () =>
      new Set(rig.archivist.seenAt('token').map(({ body }) => new URLSearchParams(body).get('client_id')));
    for (let look = 0; look < 100 && rig.archivist.seenAt('event').length < 2; look += 1)
      await new Promise((wake) => setTimeout(wake, 100));
    expect(rig.archivist.seenAt('event')).toHaveLength(2);
    expect(clients()).toEqual(new Set(['client', 'north-id']));
    await writeFile(tenanciesFile, '{"north": {"client_id": "x"}}');
    await expect(startRig(open.backend, { settings: { tenanciesFile } })).rejects.toThrow(/ARCHIVIST_TENANCIES/);
    const absent = { tenanciesFile: join(folder, 'absent.json') };
    await expect(startRig(open.backend, { settings: absent })).rejects.toThrow(
      'must name a JSON file that can be read',
    );
    await rig.close();
    await open.close();
    await rm(folder, { recursive: true });
  });
});
