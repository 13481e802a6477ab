import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUICK_START } from '../support/quick-start.js';
import { type EmptyFolder, emptyFolder, REPOSITORY } from './empty-folder.js';
import { type StartedService, startService } from './started-service.js';

const TARBALL = 'vcon-archivist.tgz';
const PROGRAM = 'node_modules/.bin/vcon-archivist';
const VCON = 'fixtures/vcon/call.vcon.json';
const CONFIRMED_WITHIN_MS = 60_000;

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** A token of the first Owner, whose credentials the first start has written. */
async function ownerToken({ path }: EmptyFolder, { url }: StartedService): Promise<string> {
  const credentials = JSON.parse(await readFile(join(path, 'data/credentials.json'), 'utf8')) as Record<string, string>;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials['client_id']!,
    client_secret: credentials['client_secret']!,
  });
  const answer = await fetch(`${url}/archivist/iam/v1/appidp/token`, { method: 'POST', body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Records one operation of a vCon and returns the event's evidence, a zip. */
async function recordedEvidence({ url }: StartedService, token: string, document: Uint8Array): Promise<Uint8Array> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { identity: string };
  };
  const asset = await post('/archivist/v2/assets', { behaviours: ['RecordEvidence'], attributes: {} });
  const attributes = {
    arc_display_type: 'vcon_created',
    vcon_operation: 'vcon_created',
    subject: `vcon://${(JSON.parse(Buffer.from(document).toString()) as { uuid: string }).uuid}`,
    payload: Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(document))).toString('hex'),
    payload_hash_alg: 'SHA-256',
  };
  const event = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: attributes };
  const { identity } = await post(`/archivist/v2/${asset.identity}/events`, event);
  const until = Date.now() + CONFIRMED_WITHIN_MS;
  while (Date.now() < until) {
    const answer = await fetch(`${url}/archivist/v2/${identity}/evidence`, { headers });
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${identity} has no evidence yet`);
}

describe('the npm package', () => {
  let folder: EmptyFolder;
  let packed: Packed;
  beforeAll(async () => {
    folder = await emptyFolder();
    const inRepository = ['--prefix', REPOSITORY, '--ignore-scripts', '--json'];
    const json = await folder.run('npm', ['pack', REPOSITORY, ...inRepository, '--pack-destination', folder.path]);
    [packed] = JSON.parse(json.slice(json.indexOf('['), json.lastIndexOf(']') + 1)) as [Packed];
    await folder.run('mv', [packed.filename, TARBALL]);
  }, 120_000);
  afterAll(() => folder.remove());

  it('holds the program, the wheel’s sources and its licence, and no tests, benchmark or demo', () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'dist/src/main.js',
      'dist/src/core/index.d.ts',
      'dist/src/migrations/000001_tenancies.sql',
      'plugins/python/build_wheel.py',
      'plugins/python/vcon_archivist_link/__init__.py',
    ])
      expect(paths).toContain(path);
    expect(paths.filter((path) => /(^|\/)(test|demo|fixtures|bench)\//.test(path))).toEqual([]);
  });

  it('is installed in an empty folder, where its help, the service and the verifier run', async () => {
    await writeFile(join(folder.path, 'package.json'), '{"private":true}');
    await folder.run('npm', ['install', '--no-audit', '--no-fund', `./${TARBALL}`]);
    expect(await folder.run('npx', ['vcon-archivist', '--help'])).toMatch(/serve .*verify /s);
    const service = await startService(folder.path, process.execPath, [...QUICK_START, PROGRAM, 'serve']);
    const document = await readFile(join(REPOSITORY, VCON));
    const token = await ownerToken(folder, service);
    await writeFile(join(folder.path, 'call.evidence.zip'), await recordedEvidence(service, token, document));
    await writeFile(join(folder.path, 'call.vcon.json'), document);
    const keys = { 'log-keys.cbor': '/.well-known/scitt-keys', 'issuer.json': '/archivist/v1/didweb/did.json' };
    for (const [name, path] of Object.entries(keys))
      await writeFile(join(folder.path, name), new Uint8Array(await (await fetch(service.url + path)).arrayBuffer()));
    await service.stop();
    const trust = ['--log-keys', 'log-keys.cbor', '--issuer-keys', 'issuer.json'];
    const verdict = await folder.run(PROGRAM, ['verify', ...trust, 'call.vcon.json', 'call.evidence.zip']);
    expect(verdict).toMatch(/^verified/i);
  }, 300_000);
});
