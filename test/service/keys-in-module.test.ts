import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { p256 } from '@noble/curves/nist.js';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { toHex, utf8 } from '../../src/core/bytes.js';
import { decodeSign1, signatureInput } from '../../src/core/cose/sign1.js';
import { sha256 } from '../../src/core/sha256.js';
import { readCredentials } from '../../src/service/first-credentials.js';
import { type Client, clientWith, requestToken, template, until } from '../api/test-service.js';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { type Engine, embeddedDataDir, engines } from '../support/engines.js';
import { serviceRedisUrl } from '../support/own-redis.js';
import { redisUrl, softhsm } from '../support/prerequisites.js';
import { makeSofthsmTokens, type SofthsmTokens } from '../support/softhsm-tokens.js';

const LISTENS = /^vcon-archivist listens on (\S+)/m;
const SUBJECT = 'vcon://0190a8c0-0000-7000-8000-0000000000aa';
const VCON = JSON.stringify({ vcon: '0.0.1', uuid: SUBJECT.slice('vcon://'.length), parties: [], dialog: [] });
const PAYLOAD = toHex(sha256(utf8(VCON)));
const WITHIN_MS = 60_000;

afterAll(killBuilt);

/** The embedded database is one process's at a time, so nobody else has it open. */
async function databaseFor(engine: Engine): Promise<{ environment: { DATA_DIR: string }; remove(): Promise<void> }> {
  if (engine.name === 'PostgreSQL') {
    const opened = await engine.open();
    return { environment: opened.environment, remove: () => opened.close() };
  }
  const DATA_DIR = await embeddedDataDir();
  return { environment: { DATA_DIR }, remove: () => rm(DATA_DIR, { recursive: true, force: true }) };
}

/** A PostgreSQL server where there is one: the ledger then signs in a thread of its own. */
const engine = engines().at(-1)!;

describe.skipIf(!softhsm)('a service with its keys in a module', { timeout: 240_000 }, () => {
  let database: Awaited<ReturnType<typeof databaseFor>>;
  let tokens: SofthsmTokens;
  let folder: string;
  let environment: Record<string, string>;
  const programs: BuiltProgram[] = [];
  beforeAll(async () => {
    database = await databaseFor(engine);
    folder = await mkdtemp(join(inject('runFolder'), 'module-'));
    tokens = await makeSofthsmTokens(['archive', 'empty']);
    environment = {
      ...database.environment,
      ...tokens.environment,
      KEY_PROVIDER: tokens.uri('archive'),
      KEYS_DIR: join(folder, 'keys'),
      PUBLIC_URL: 'http://archivist.example',
      PORT: '0',
      PLUGIN_PORT: '0',
      LOG_LEVEL: 'trace',
      ...(engine.name === 'PostgreSQL' && redisUrl ? { REDIS_URL: await serviceRedisUrl() } : {}),
    };
  });
  afterAll(async () => {
    await killBuilt();
    await database?.remove();
    await tokens?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  function run(change: Record<string, string> = {}): BuiltProgram {
    const program = startBuilt('main', { ...environment, ...change });
    programs.push(program);
    return program;
  }

  async function started(): Promise<{ url: string; owner: Client; stop(): Promise<void> }> {
    const program = run();
    const [, url] = await program.says(LISTENS);
    await program.says(/Stop with/);
    const { client_id, client_secret } = (await readCredentials(database.environment.DATA_DIR))!;
    const grant = { grant_type: 'client_credentials', client_id, client_secret };
    const { json } = await requestToken(url!, grant);
    const stop = async () => {
      program.signal('SIGTERM');
      expect(await program.ended).toBe(0);
    };
    return { url: url!, owner: clientWith(url!, String(json['access_token']), client_id), stop };
  }

  async function statementOf(owner: Client): Promise<Uint8Array> {
    const asset = await owner.post('/archivist/v2/assets', { attributes: { subject: SUBJECT } });
    const event = {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: template(SUBJECT, { payload: PAYLOAD }),
    };
    const { status, json } = await owner.post(`/archivist/v2/${String(asset.json['identity'])}/events`, event);
    expect(status).toBe(200);
    const path = `/archivist/v2/${String(json['identity'])}/transparent-statement`;
    return (
      await until(
        () => owner.get(path),
        (answer) => answer.status === 200,
        WITHIN_MS,
      )
    ).bytes;
  }

  async function cli(args: readonly string[], url = ''): Promise<{ code: unknown; out: string; err: string }> {
    const program = startBuilt('cli/vcon-archivist', { ...environment, PUBLIC_URL: url || 'http://a.example' }, args);
    const code = await program.ended;
    return { code, ...program.written };
  }

  /** With the keys that the service publishes, offline. */
  async function expectVerified(url: string, statements: readonly Uint8Array[]): Promise<void> {
    const [logKeys, issuerKeys, vcon] = ['log-keys', 'issuer-keys', 'vcon.json'].map((name) => join(folder, name));
    await writeFile(vcon!, VCON);
    await writeFile(logKeys!, (await clientWith(url, '').get('/.well-known/scitt-keys')).bytes);
    await writeFile(issuerKeys!, (await clientWith(url, '').get('/archivist/v1/didweb/did.json')).bytes);
    for (const [place, statement] of statements.entries()) {
      const file = join(folder, `statement-${place}.cose`);
      await writeFile(file, statement);
      const { code, out, err } = await cli([
        'verify',
        '--log-keys',
        logKeys!,
        '--issuer-keys',
        issuerKeys!,
        vcon!,
        file,
      ]);
      expect([code, out, err]).toEqual([0, expect.stringMatching(/^VERIFIED/), '']);
    }
  }

  async function expectOpensslVerifies(url: string, statement: Uint8Array): Promise<void> {
    const { protectedBytes, payload, signature } = decodeSign1(statement);
    const { json } = await clientWith(url, '').get('/archivist/v1/didweb/did.json');
    const [method] = json['verificationMethod'] as { publicKeyJwk: Record<string, string> }[];
    const pem = createPublicKey({ key: method!.publicKeyJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const [key, raw, message] = ['issuer.pem', 'signature.der', 'message'].map((name) => join(folder, name));
    await writeFile(key!, pem);
    await writeFile(raw!, p256.Signature.fromBytes(signature).toBytes('der'));
    await writeFile(message!, signatureInput(protectedBytes, payload!));
    const { stdout } = spawnSync('openssl', ['dgst', '-sha256', '-verify', key!, '-signature', raw!, message!]);
    expect(stdout.toString()).toContain('Verified OK');
  }

  async function listed(url: string): Promise<Record<string, string>[]> {
    const { code, out, err } = await cli(['keys', 'list', '--json'], url);
    expect([code, err]).toEqual([0, '']);
    return (JSON.parse(out) as { keys: Record<string, string>[] }).keys;
  }

  it('signs statements, receipts, seals and tokens there, which anybody verifies; no private half is in KEYS_DIR', async () => {
    const { url, owner, stop } = await started();
    const statement = await statementOf(owner);
    await expectVerified(url, [statement]);
    await expectOpensslVerifies(url, statement);
    expect((await listed(url)).map((key) => key['private_half'])).toEqual(Array(6).fill('module'));
    expect((await readdir(environment['KEYS_DIR']!)).sort()).toEqual([
      expect.stringMatching(/^key-manifest-[0-9a-f-]{36}\.cose$/),
      'operator-token',
      'page-token-key',
      'token-pepper',
    ]);
    await stop();
  });

  it('rotates every role there, and what the keys before have signed still verifies', async () => {
    const { url, owner, stop } = await started();
    const before = await statementOf(owner);
    for (const role of ['issuer', 'statement_receipt', 'seal', 'note', 'token', 'chain'])
      expect(await cli(['keys', 'rotate', role], url)).toMatchObject({ code: 0, err: '' });
    const after = await statementOf(owner);
    await expectVerified(url, [before, after]);
    const keys = await listed(url);
    expect(keys.map((key) => `${key['state']} ${key['private_half']}`).sort()).toEqual([
      ...Array(6).fill('active module'),
      ...Array(6).fill('retired module'),
    ]);
    expect((await readdir(environment['KEYS_DIR']!)).filter((name) => name.endsWith('.pem'))).toEqual([]);
    await stop();
  });

  it('does not start without a key or the right PIN, and says what to change', async () => {
    const refused = async (change: Record<string, string>): Promise<string> => {
      const program = run(change);
      expect(await program.ended).not.toBe(0);
      expect(program.written.err.trimEnd().split('\n')).toHaveLength(1);
      return program.written.err;
    };
    const another = { KEY_PROVIDER: environment['KEY_PROVIDER']!.replace('token=archive', 'token=empty') };
    expect(await refused(another)).toMatch(
      /active key \S+ is missing: name the module and the token that have it \(KEY_PROVIDER names "empty"\), or restore/,
    );
    expect(await refused({ KEY_PROVIDER: '' })).toMatch(/active key \S+ is missing: .*KEY_PROVIDER to its module/);
    const pinFile = tokens.token('archive').pinFile;
    await writeFile(pinFile, 'pin-of-nobody');
    expect(await refused({})).toMatch(/the token refuses the PIN of pin-source \(CKR_PIN_INCORRECT\)/);
    await writeFile(pinFile, tokens.pin);
    expect(await refused({ KEY_PROVIDER: 'pkcs11:token=archive?pin-value=pin-of-7193' })).toMatch(
      /must not have a pin-value/,
    );
  });

  it('never writes the PIN anywhere', async () => {
    const written = programs.map((program) => program.written.out + program.written.err).join('\n');
    expect(written).not.toMatch(/pin-of-(7193|nobody)/);
    for (const name of await readdir(environment['KEYS_DIR']!))
      expect(await readFile(join(environment['KEYS_DIR']!, name), 'utf8')).not.toContain(tokens.pin);
  });
});
