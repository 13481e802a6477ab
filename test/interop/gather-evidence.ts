import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { encodeVkey } from '../../src/core/tlog/signed-note.js';
import { sendCose } from '../api/send-cose.js';
import { type Client, startTestService, type TestService, template, until } from '../api/test-service.js';
import { startTestWitness, type TestWitness } from '../api/test-witness.js';
import { ALGORITHMS, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';

const CONFIRMED_MS = 60_000;
/** More than a full tile of the public statement log. */
const PUBLIC_EVENTS = 300;
/** The key id and the private key's file of the issuer that the payload-hash log takes statements of. */
export const PINNED_KID = 'conserver-key-1';
export const PINNED_KEY = 'conserver.pem';

/** What a running service handed out, as files: the programs that check it are in other languages. */
export interface GatheredEvidence {
  readonly running: TestService;
  /** Holds `manifest.json`, which names the others by what they are. */
  readonly folder: string;
  /** Resolves with an answer once it is there. */
  confirmed(path: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Starts a service with three witnesses and the payload-hash log, lets it make evidence of every kind, and keeps each
 * answer byte for byte.
 */
export async function gatherEvidence(): Promise<GatheredEvidence> {
  const folder = await mkdtemp(join(tmpdir(), 'archivist-evidence-'));
  const witnesses = await Promise.all(['w1', 'w2', 'w3'].map((name) => startTestWitness(`${name}.example`)));
  const conserver = sampleIssuer();
  const pem = conserver.publicKey.export({ type: 'spki', format: 'pem' });
  await writeFile(join(folder, PINNED_KEY), conserver.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const issuers = [{ issuer: 'conserver', kid: PINNED_KID, public_key: pem }];
  await writeFile(join(folder, 'pinned.json'), JSON.stringify({ issuers }));
  const running = await startTestService({
    PLUGIN_PORT: '0',
    WITNESSES: witnesses.map(({ address }) => address).join(', '),
    WITNESS_SECONDS: '1',
    PAYLOAD_HASH_ISSUERS: join(folder, 'pinned.json'),
    PAYLOAD_HASH_RATE: '1000',
  });
  const close = async () => {
    await running.close();
    await Promise.all(witnesses.map((witness) => witness.close()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const keep = keeper(running, folder);
    const logs = await followedLogs(running, witnesses);
    const events = await recordedEvents(running);
    const manifest = {
      url: running.url,
      scitt_keys: await keep('/.well-known/scitt-keys', 'scitt-keys.cbor'),
      issuer_keys: await keep('/archivist/v1/didweb/did.json', 'did.json'),
      jwks: await keep('/jwks', 'jwks.json'),
      statements: await proofsOf(events, keep),
      registered: await registeredStatements(running, folder),
      payload_hash: await payloadHashEntries(running, folder, conserver),
      massifs: await massifsOf(running, keep),
      notes: await Promise.all(
        logs.map(async (log) => ({ ...log, checkpoint: await keep(`${log.path}/checkpoint`, `${log.kind}.note`) })),
      ),
      witnesses: witnesses.map(({ key }) => encodeVkey(key)),
      witnessed: await witnessedSeal(running, folder, events),
    };
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest, null, 2));
    return { running, folder, confirmed: (path) => answered(running.owner, path), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Keep = (path: string, name: string) => Promise<string>;

function keeper(running: TestService, folder: string): Keep {
  return async (path, name) => {
    await writeFile(join(folder, name), await answered(running.owner, path));
    return name;
  };
}

async function answered(client: Client, path: string): Promise<Uint8Array> {
  const { status, bytes } = await until(
    () => client.get(path),
    (answer) => answer.status === 200,
    CONFIRMED_MS,
  );
  if (status !== 200) throw new Error(`${path}: ${status} ${new TextDecoder().decode(bytes)}`);
  return bytes;
}

async function followedLogs(running: TestService, witnesses: readonly TestWitness[]) {
  const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as {
    logs: { id: string; kind: string; origin: string; vkey: string; url: string }[];
  };
  for (const witness of witnesses) witness.knownLogs.push(...logs.map(({ vkey }) => vkey));
  return logs.map((log) => ({ ...log, path: new URL(log.url).pathname }));
}

interface RecordedEvent {
  /** Of the event itself: where its proofs are. */
  readonly path: string;
  readonly public: boolean;
  /** What the statement's digest is of. */
  readonly document: string;
}

async function recordedEvents({ owner }: TestService): Promise<RecordedEvent[]> {
  const attributesOf = (document: string, more: Record<string, unknown> = {}) => ({
    ...template('vcon://0190a8c0-0000-7000-8000-00000000c0de', more),
    payload: createHash('sha256').update(document).digest('hex'),
  });
  const record = (document: string) => ({
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: attributesOf(document, { note: 'Zoë & Ünal <❖>', list: [{ z: 'a', é: ['b'] }, 'c'], empty: {} }),
    asset_attributes: { last: document },
    principal_declared: { issuer: 'idp', subject: 'sub', display_name: 'Ünal', email: 'u@example.com' },
  });
  const events: RecordedEvent[] = [];
  for (const isPublic of [false, true]) {
    const asset = await owner.post('/archivist/v2/assets', {
      attributes: { arc_display_name: 'Tür' },
      public: isPublic,
    });
    const path = `/archivist/v2/${asset.json['identity']}/events`;
    const documents = Array.from({ length: isPublic ? PUBLIC_EVENTS : 7 }, (_, at) => `{"call":"${isPublic} ${at}"}`);
    const { json } = await owner.post(`${path}:bulk`, { events: documents.map(record) });
    const identities = (json['events'] as { event: { identity: string } }[]).map(({ event }) => event.identity);
    for (const at of isPublic ? [0, 1, 128, 299] : documents.keys())
      events.push({
        path: `/archivist/v2/${isPublic ? 'public' : ''}${identities[at]}`,
        public: isPublic,
        document: documents[at]!,
      });
  }
  for (const event_type of ['Recording', undefined]) {
    const document = `{"call":"${event_type}"}`;
    const body = {
      attributes: attributesOf(document, { '<&>\u2028"': 'é\n' }),
      trails: ['vcon', 'Tür'],
      ...(event_type && { event_type }),
    };
    const { json } = await owner.post('/archivist/v1/events', body);
    events.push({ path: `/archivist/v1/${json['identity']}`, public: false, document });
  }
  return events;
}

async function proofsOf(events: readonly RecordedEvent[], keep: Keep) {
  const kept = [];
  for (const [at, { path, public: isPublic, document }] of events.entries())
    kept.push({
      path,
      public: isPublic,
      document,
      signed: await keep(`${path}/signed-statement`, `${at}.signed.cose`),
      transparent: await keep(`${path}/transparent-statement`, `${at}.transparent.cose`),
      receipt_map: await keep(`${path}/receipt?form=map`, `${at}.map.cose`),
      receipt_draft: await keep(`${path}/receipt?form=draft`, `${at}.draft.cose`),
      event: await keep(path, `${at}.event.json`),
    });
  return kept;
}

/** The registered seal over the first event, and its proof, out of the event's bundle. */
async function witnessedSeal({ owner }: TestService, folder: string, [event]: readonly RecordedEvent[]) {
  const { json } = await until(
    () => owner.get(event!.path),
    (answer) => answer.json['confirmation_status'] === 'UNEQUIVOCAL',
    CONFIRMED_MS,
  );
  if (json['confirmation_status'] !== 'UNEQUIVOCAL') throw new Error(`${event!.path} is not witnessed`);
  const files = unzipSync(await answered(owner, `${event!.path}/evidence`));
  const kept = { proof: 'seal.tlog-proof', seal: 'seal.sth' };
  for (const name of Object.values(kept)) await writeFile(join(folder, name), files[`witness/${name}`]!);
  return kept;
}

/** The numbers of RFC 9864, which neither pycose nor go-cose knows: they cannot read such a statement at all. */
const NEWER = ['ESP256', 'ESP384', 'ESP512', 'Ed25519'];

async function registeredStatements({ url, owner }: TestService, folder: string) {
  const kept = [];
  for (const [name, algorithm] of Object.entries(ALGORITHMS)) {
    if (NEWER.includes(name)) continue;
    const statement = sampleStatement(sampleIssuer(algorithm), { unprotected: new Map([['note', 'as it came']]) });
    const { status, bytes } = await sendCose(url, owner, '/entries', statement);
    if (status !== 201) throw new Error(`/entries ${name}: ${status}`);
    await writeFile(join(folder, `${name}.statement.cose`), statement);
    await writeFile(join(folder, `${name}.receipt.cose`), bytes);
    kept.push({ name, statement: `${name}.statement.cose`, receipt: `${name}.receipt.cose` });
  }
  return kept;
}

async function payloadHashEntries(running: TestService, folder: string, conserver: ReturnType<typeof sampleIssuer>) {
  const kept = [];
  for (const at of [0, 1, 2]) {
    const statement = sampleStatement(conserver, {
      issuer: 'conserver',
      subject: 'vcon://0190a8c0-0000-7000-8000-00000000c0de',
      claimsLabel: 13,
      confirmation: false,
      payload: new TextEncoder().encode(`a3f5:vcon_created:${at}`),
      headers: new Map<number, Uint8Array | string>([[4, new TextEncoder().encode(PINNED_KID)]]),
    });
    const { status, bytes } = await sendCose(running.url, running.anonymous, '/payload-hash/entries', statement);
    if (status !== 201) throw new Error(`/payload-hash/entries: ${status}`);
    await writeFile(join(folder, `link-${at}.statement.cose`), statement);
    await writeFile(join(folder, `link-${at}.receipt.cose`), bytes);
    kept.push({ statement: `link-${at}.statement.cose`, receipt: `link-${at}.receipt.cose` });
  }
  const { bytes } = await running.anonymous.get('/payload-hash/jwks');
  await writeFile(join(folder, 'payload-hash-jwks.json'), bytes);
  return { keys: 'payload-hash-jwks.json', entries: kept };
}

/** First the seal, then the file: it holds at least what the seal is over. */
async function massifsOf(running: TestService, keep: Keep) {
  const listed = (await running.owner.get('/archivist/v2/assets?page_size=1')).json['assets'] as {
    tenant_identity: string;
  }[];
  const tenancies = [listed[0]!.tenant_identity, `tenant/${running.service.parts.deployment.publicTenancy}`];
  return Promise.all(
    tenancies.map(async (tenant, at) => {
      const base = `/verifiabledata/merklelogs/v1/mmrs/${tenant}/0`;
      const seal = await keep(`${base}/massifseals/0000000000000000.sth`, `log-${at}.sth`);
      return { tenant, seal, massif: await keep(`${base}/massifs/0000000000000000.log`, `log-${at}.log`) };
    }),
  );
}
