// Writes fixtures/upgrade/<version>: a copy of a small deployment, made by the program of this repository. Run it once
// for each release, before the release: node scripts/make-upgrade-fixture.mjs. test/service/upgrade.test.ts restores
// every such copy with the newer program. It has no private keys: those of the deployment are thrown away.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readOptions } from './read-options.mjs';

readOptions('usage: node scripts/make-upgrade-fixture.mjs');

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const fixture = join(root, 'fixtures', 'upgrade', version);
const folder = await mkdtemp(join(tmpdir(), 'upgrade-fixture-'));
const port = await freePort();
const env = { PATH: process.env.PATH, DATA_DIR: folder, PORT: String(port), PLUGIN_PORT: '0', MASSIF_HEIGHT: '4' };
const url = `http://127.0.0.1:${port}`;

const service = spawn(process.execPath, [join(root, 'dist/src/main.js')], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => service.once('close', resolve));
const started = await new Promise((resolve, reject) => {
  let text = '';
  service.stdout.on('data', (data) => {
    text += data;
    if (text.includes('Stop with')) resolve(text);
  });
  service.once('close', () => reject(new Error('the service ended')));
});
const token = await firstToken();

const assets = [];
for (const isPublic of [false, true])
  assets.push(await post('/archivist/v2/assets', { public: isPublic, attributes: { arc_display_type: 'vCon' } }));
const events = [];
for (let number = 0; number < 18; number += 1) {
  const attributes = { number: String(number), text: 'Grüße, "quoted" and \\ back\nnew line' };
  const asset = assets[number % 3];
  const body = asset
    ? { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: attributes }
    : { attributes, trails: ['trail'], event_type: 'fixture' };
  events.push(await post(asset ? `/archivist/v2/${asset.identity}/events` : '/archivist/v1/events', body));
}
await post('/archivist/iam/v1/applications', { display_name: 'another application' });
await post('/archivist/v2/locations', { display_name: 'a place', latitude: 1.5, longitude: -2.25 });
const form = new FormData();
form.append('file', new Blob(['a blob']), 'blob.txt');
await request('/archivist/v1/blobs', { method: 'POST', body: form });

for (const { identity } of events) {
  const path = identity.startsWith('assets/') ? `/archivist/v2/${identity}` : `/archivist/v1/${identity}`;
  while ((await request(path, {})).confirmation_status !== 'CONFIRMED') await new Promise((r) => setTimeout(r, 200));
}
service.kill('SIGTERM');
await ended;
await rm(fixture, { recursive: true, force: true });
const cli = join(root, 'dist/src/cli/vcon-archivist.js');
const made = await promisify(execFile)(process.execPath, [cli, 'backup', fixture, '--without-keys'], { env });
await writeFile(join(fixture, 'root-fingerprint.txt'), `${/^Root key: (\S+)$/m.exec(started)[1]}\n`);
await rm(folder, { recursive: true });
process.stdout.write(made.stdout);

async function firstToken() {
  const credentials = JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8'));
  const { client_id, client_secret, token_endpoint } = credentials;
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  return (await (await fetch(token_endpoint, { method: 'POST', body })).json()).access_token;
}

async function request(path, init) {
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}${path}`, { ...init, headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

function post(path, body) {
  return request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address();
      server.close(() => resolve(free));
    });
  });
}
