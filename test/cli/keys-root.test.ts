import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { readKeyManifest } from '../../src/core/keys/read-key-manifest.js';
import { decodeKeyManifests } from '../../src/core/keys/verify-key-manifests.js';
import { sha256 } from '../../src/core/sha256.js';
import { readTransparentStatement } from '../../src/core/statement/transparent-statement.js';
import type { Verdict } from '../../src/core/verify/verdict.js';
import { clientWith, startTestService, type TestService, template } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';

const PATIENCE = { timeout: 60_000, interval: 200 };
const LONG = 120_000;
let running: TestService;
let keysDir: string;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-root-'));
  keysDir = join(folder, 'keys');
  running = await startTestService({ KEYS_DIR: keysDir });
}, LONG);
afterAll(async () => {
  await running?.close();
  await rm(folder, { recursive: true });
});

const cli = (...args: string[]) => commandLine(args, { KEYS_DIR: keysDir, PUBLIC_URL: running.url });

const file = (name: string) => join(folder, name);
const keys = (...args: string[]) => cli('keys', ...args);
const current = () => running.service.parts.keys.manifests.current.manifest;
const fingerprint = async () => /Root key \(.*\): (\S+)/.exec((await keys('list')).out)![1]!;

async function fetched(name: string): Promise<string> {
  // Kept for five minutes by others; the service itself always answers the newest.
  await writeFile(file(name), (await running.anonymous.get('/verifiabledata/keys/manifest')).bytes);
  return file(name);
}

/** A new event's transparent statement, in a file. */
async function statement(name: string): Promise<string> {
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: {} });
  const event = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: template('vcon://0190a8c0-0000-7000-8000-0000000000aa'),
  });
  await vi.waitFor(async () => {
    const answer = await running.owner.get(`/archivist/v2/${event.json['identity']}/transparent-statement`);
    expect(answer.status).toBe(200);
    await writeFile(file(name), answer.bytes);
  }, PATIENCE);
  return file(name);
}

async function verify(root: string, ...args: string[]) {
  const { out, exitCode } = await cli('verify', '--root', root, '--statement-only', '--json', ...args);
  const document = JSON.parse(out) as Verdict & { not_covered: Verdict['notCovered'] };
  return { exitCode, ...document };
}

describe('the fingerprint of the root key', { timeout: LONG }, () => {
  it('is printed by keys list, the status page and the start, and is that of the signer', async () => {
    const shown = await fingerprint();
    expect(shown).toBe(running.service.rootFingerprint);
    const { bytes } = await running.anonymous.get('/');
    expect(new TextDecoder().decode(bytes)).toContain(shown);
  });

  it('is all that verify needs: the manifest may lie beside the evidence, or be named', async () => {
    const [root, manifest, evidence] = [await fingerprint(), await fetched('m.cbor'), await statement('s.cose')];
    for (const args of [
      [evidence, manifest],
      [manifest, evidence],
      [evidence, '--manifest', manifest],
    ]) {
      const verdict = await verify(root.toLowerCase().replaceAll('-', ' '), ...args);
      expect([verdict.outcome, verdict.exitCode]).toEqual(['verified', 0]);
      const later = verdict.missing.find(({ what }) => what === 'later_manifests');
      expect(later?.detail).toContain(`key manifest ${current().number} of`);
    }
  });

  it('refuses a manifest of another root, and a fingerprint that is mistyped', async () => {
    const [manifest, evidence] = [await fetched('m.cbor'), file('s.cose')];
    const another = 'CSGJ-XIOO-3ZKK-3FM5-UZAF-OPDV-3RL3-RRYU-AAHN-SCHE-XKRS-Y7JL-EOA4-4GW4';
    const refused = await verify(another, evidence, manifest);
    expect([refused.exitCode, refused.contradictions[0]!.code]).toEqual([1, 'root_not_trusted']);
    const mistyped = await cli('verify', '--root', `${another.slice(0, -1)}5`, '--statement-only', evidence, manifest);
    expect([mistyped.exitCode, mistyped.err]).toEqual([2, expect.stringContaining('checksum')]);
    const nothing = await cli('verify', '--root', await fingerprint(), '--statement-only', evidence);
    expect([nothing.exitCode, nothing.err]).toEqual([2, expect.stringContaining('/verifiabledata/keys/manifest')]);
  });

  it('remembers the newest manifest, and refuses an older one', async () => {
    const [root, old, state] = [await fingerprint(), await fetched('old.cbor'), file('state')];
    expect((await verify(root, file('s.cose'), old, '--state', state)).exitCode).toBe(0);
    expect((await keys('rotate', 'chain')).exitCode).toBe(0);
    expect((await verify(root, file('s.cose'), await fetched('new.cbor'), '--state', state)).exitCode).toBe(0);
    const refused = await verify(root, file('s.cose'), old, '--state', state);
    expect([refused.exitCode, refused.contradictions[0]!.code]).toEqual([1, 'manifest_older']);
    // What cannot be read may hold a newer one.
    const kept = join(state, (await readdir(state))[0]!);
    await rm(kept);
    await mkdir(kept);
    expect((await verify(root, file('s.cose'), old, '--state', state)).exitCode).toBe(2);
  });

  it('says in one line that the folder of --state cannot be written', async () => {
    const state = file('nowhere');
    await symlink(file('no-such-folder'), state);
    const given = [file('s.cose'), await fetched('m.cbor'), '--statement-only'];
    const { out, err, exitCode } = await cli('verify', '--root', await fingerprint(), '--state', state, ...given);
    expect([out, exitCode]).toEqual(['', 2]);
    expect(err).toMatch(new RegExp(`^error: --state: ${state}/\\S+ cannot be written: .*$`));
  });
});

describe('a stolen key', { timeout: LONG }, () => {
  it('is published no more; what it signed counts only where a log proves that it is older', async () => {
    const before = await statement('before.cose');
    const old = current().keys.find(({ role, state }) => role === 'issuer' && state === 'active')!;
    expect((await keys('rotate', 'issuer', '--stolen')).exitCode).toBe(0);
    const { json } = await running.anonymous.get('/archivist/v1/didweb/did.json');
    expect(JSON.stringify(json)).not.toContain(old.keyId);
    const [root, manifest] = [await fingerprint(), await fetched('revoked.cbor')];
    expect(await verify(root, before, manifest)).toMatchObject({ exitCode: 0 });
    const { entry } = readTransparentStatement(new Uint8Array(await readFile(before)));
    await writeFile(file('alone.cose'), entry);
    const alone = await verify(root, file('alone.cose'), manifest);
    expect([alone.exitCode, alone.claims]).toEqual([3, []]);
    const unproven = alone.not_covered.filter(({ why }) => why === 'unproven').map(({ detail }) => detail);
    expect(unproven.join()).toContain('was stolen and revoked at');
    expect(await verify(root, await statement('after.cose'), manifest)).toMatchObject({ exitCode: 0 });
  });

  it('may be retired when that is found out', async () => {
    const chain = current().keys.find(({ role, state }) => role === 'chain' && state === 'retired')!;
    expect((await keys('revoke', chain.keyId)).exitCode).toBe(0);
    expect(current().keys.find(({ keyId }) => keyId === chain.keyId)).toMatchObject({ state: 'revoked' });
    expect((await keys('revoke', chain.keyId)).err).toContain('only a retired key');
    for (const id of ['-a-key-id', '-x'])
      expect((await keys('revoke', id)).err).toContain('There is no key of this id');
  });
});

describe('a database that somebody else writes to', { timeout: LONG }, () => {
  const faults = async () => (await keys('list')).out.split('\n').filter((line) => line.startsWith('FAULT'));
  const scitt = async () => toHex((await running.anonymous.get('/.well-known/scitt-keys')).bytes);

  it('changes no key, whatever its rows say, and each row is a fault', async () => {
    const before = await scitt();
    expect(await faults()).toEqual([]);
    await running.asOwner(
      `INSERT INTO archivist.signing_key (tenant_id, key_id, role, algorithm, public_jwk, state, valid_from)
       SELECT tenant_id, 'stranger', role, algorithm, public_jwk || '{"x": "AAAA"}', 'retired', valid_from
         FROM archivist.signing_key WHERE role = 'seal' AND state = 'active'`,
    );
    await running.asOwner(
      `UPDATE archivist.signing_key SET valid_from = valid_from - interval '1 day' WHERE role = 'note'`,
    );
    await vi.waitFor(async () => expect(await faults()).toHaveLength(2), PATIENCE);
    expect(await scitt()).toBe(before);
    await running.asOwner(`DELETE FROM archivist.signing_key WHERE key_id = 'stranger'`);
    await running.asOwner(
      `UPDATE archivist.signing_key SET valid_from = valid_from + interval '1 day' WHERE role = 'note'`,
    );
  });

  it('cannot set the manifests back, nor add one that the root key did not sign', async () => {
    const { number } = current();
    const before = await scitt();
    await running.asOwner('CREATE TABLE public.kept AS SELECT * FROM archivist.key_manifest');
    await running.asOwner(`DELETE FROM archivist.key_manifest WHERE number > 1`);
    await vi.waitFor(async () => expect((await faults()).join()).toContain('was rolled back'), PATIENCE);
    await running.asOwner(
      `INSERT INTO archivist.key_manifest SELECT tenant_id, ${number + 1}, gen_random_uuid(), manifest FROM public.kept WHERE number = 1`,
    );
    await vi.waitFor(async () => expect((await faults()).join()).toContain('is not accepted'), PATIENCE);
    expect([current().number, await scitt()]).toEqual([number, before]);
    await running.asOwner('DELETE FROM archivist.key_manifest');
    await running.asOwner('INSERT INTO archivist.key_manifest SELECT * FROM public.kept');
    await vi.waitFor(async () => expect(await faults()).toEqual([]), PATIENCE);
  });
});

describe('the root key', { timeout: LONG }, () => {
  it('is rotated by the old one: both fingerprints verify the evidence', async () => {
    const [before, older] = [await fingerprint(), await fetched('older.cbor')];
    expect((await keys('rotate', 'root')).exitCode).toBe(0);
    const [after, manifest] = [await fingerprint(), await fetched('rotated.cbor')];
    expect(after).not.toBe(before);
    expect(decodeKeyManifests(new Uint8Array(await readFile(manifest)))).toHaveLength(2);
    for (const root of [before, after]) expect((await verify(root, file('after.cose'), manifest)).exitCode).toBe(0);
    // Evidence of that time has the older list beside it.
    for (const given of [
      [older, manifest],
      [manifest, older],
    ]) {
      const verdict = await verify(after, file('after.cose'), ...given);
      expect(verdict.exitCode).toBe(0);
      expect(verdict.not_covered).toContainEqual(expect.objectContaining({ piece: older, why: 'explanation' }));
    }
    const refused = await verify(after, file('after.cose'), older);
    expect([refused.exitCode, refused.contradictions[0]!.code]).toEqual([1, 'root_not_trusted']);
  });

  it('may be kept elsewhere: keys list names its file, and what it signs is carried there and back', async () => {
    const [, name] = /private half in KEYS_DIR\/(\S+\.pem)\)/.exec((await keys('list')).out)!;
    const rootFile = join(keysDir, name!);
    const away = file('root.pem');
    await rename(rootFile, away);
    expect((await keys('list')).out).toContain('not here');
    const refused = await keys('rotate', 'seal');
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('keys propose')]);
    const before = current().keys.find(({ role, state }) => role === 'seal' && state === 'active')!;
    for (const change of ['rotate', 'activate']) {
      const proposed = await vi.waitFor(async () => {
        const made = await keys('propose', change, 'seal', '--output', file('request.cose'));
        expect(made.err).toBe('');
        return made;
      }, PATIENCE);
      expect(proposed.exitCode).toBe(0);
      expect((await keys('publish', file('request.cose'))).exitCode).toBe(1);
      const other = (await readdir(keysDir)).find((name) => name.endsWith('.pem'))!;
      const sign = (pem: string) =>
        keys('sign', file('request.cose'), '--root-key', pem, '--output', file('signed.cose'));
      expect((await sign(join(keysDir, other))).exitCode).toBe(2);
      const nowhere = join(file('no-folder'), 'signed.cose');
      expect(await keys('sign', file('request.cose'), '--root-key', away, '--output', nowhere)).toMatchObject({
        err: expect.stringMatching(/^error: --output cannot be written: /),
        exitCode: 2,
      });
      const signed = await sign(away);
      expect([signed.exitCode, signed.out]).toEqual([0, expect.stringContaining(before.keyId)]);
      expect((await keys('publish', file('signed.cose'))).exitCode).toBe(0);
      const again = await keys('publish', file('signed.cose'));
      expect([again.exitCode, again.err]).toEqual([1, expect.stringContaining('If it is not published yet')]);
    }
    expect(current().keys.find(({ keyId }) => keyId === before.keyId)).toMatchObject({ state: 'retired' });
    await rename(away, rootFile);
  });
});

describe('a stolen key while the root key is elsewhere', { timeout: LONG }, () => {
  const stateOf = (id: string) => current().keys.find(({ keyId }) => keyId === id)!.state;
  const activeSeal = () => current().keys.find(({ role, state }) => role === 'seal' && state === 'active')!.keyId;
  let rootFile: string;
  beforeAll(async () => {
    const [, name] = /private half in KEYS_DIR\/(\S+\.pem)\)/.exec((await keys('list')).out)!;
    rootFile = join(keysDir, name!);
    await rename(rootFile, file('root.pem'));
  });
  afterAll(() => rename(file('root.pem'), rootFile));

  /** Proposes, signs elsewhere and publishes. */
  async function change(...args: string[]): Promise<void> {
    await vi.waitFor(async () => {
      expect((await keys('propose', ...args, '--output', file('request.cose'))).err).toBe('');
    }, PATIENCE);
    const signed = ['--root-key', file('root.pem'), '--output', file('signed.cose')];
    expect((await keys('sign', file('request.cose'), ...signed)).exitCode).toBe(0);
    expect((await keys('publish', file('signed.cose'))).exitCode).toBe(0);
  }

  it('is revoked by the second step if that says stolen, and by a step of its own if it is retired', async () => {
    const first = activeSeal();
    await change('rotate', 'seal');
    await change('activate', 'seal');
    expect(stateOf(first)).toBe('retired');
    const second = activeSeal();
    await change('rotate', 'seal');
    await change('activate', 'seal', '--stolen');
    expect([stateOf(first), stateOf(second)]).toEqual(['retired', 'revoked']);
    await change('revoke', first);
    expect(stateOf(first)).toBe('revoked');
  });

  it.each([
    ['propose', 'rotate', 'seal'],
    ['propose', 'revoke', 'a-key-id'],
    ['propose', 'renew'],
  ])('no change drops --stolen without a word: %s %s names the command that revokes', async (...args) => {
    const { err, exitCode } = await keys(...args, '--stolen', '--output', file('dropped.cose'));
    expect([exitCode, err]).toEqual([2, expect.stringContaining('keys propose activate <role> --stolen revokes')]);
    await expect(readFile(file('dropped.cose'))).rejects.toThrow('ENOENT');
  });

  it('propose revoke takes a key id that begins with a hyphen', async () => {
    const { err } = await keys('propose', 'revoke', '-a-key-id', '--output', file('dropped.cose'));
    expect(err).toContain('There is no retired key of this id');
  });

  it.each([
    [['activate', 'seal', '--stolne'], 'too many arguments'],
    [['activate', '--stolne'], 'there is no role --stolne'],
    [['renew', '--stolne'], 'takes no --stolne'],
    [['root', '--rootkey', 'new.pem'], 'too many arguments'],
  ])('no change drops a mistyped option: %j', async (args, reason) => {
    const { err, exitCode } = await keys('propose', ...args, '--output', file('dropped.cose'));
    expect([exitCode, err]).toEqual([2, expect.stringContaining(reason)]);
  });

  it('a root key cannot be revoked: rotate root --stolen changes nothing and says what to do', async () => {
    const { number } = current();
    const { err, exitCode } = await keys('rotate', 'root', '--stolen');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('tell every verifier the new fingerprint')]);
    expect(current().number).toBe(number);
  });

  it('a published manifest that is cut off or no base64 is a 400 that names it', async () => {
    const token = (await readFile(join(keysDir, 'operator-token'), 'utf8')).trim();
    const operator = clientWith(running.url, token);
    for (const manifest of ['2I0O2=', '2I0O2', 'AAAA', '!'])
      expect(await operator.post('/archivist/operator/v1/key_manifests', { manifest })).toMatchObject({
        status: 400,
        json: { error: 'bad_request', description: expect.stringMatching(/^manifest: /) },
      });
  });

  it('propose names the option that it lacks, and refuses a root key that it would not use', async () => {
    const missing = await keys('propose', 'root', '--output', file('dropped.cose'));
    expect([missing.exitCode, missing.err]).toEqual([2, expect.stringContaining('needs --root-key <file>')]);
    const unused = await keys('propose', 'renew', '--root-key', file('root.pem'), '--output', file('dropped.cose'));
    expect([unused.exitCode, unused.err]).toEqual([2, expect.stringContaining('takes no --root-key')]);
  });
});

describe('the keys log', { timeout: LONG }, () => {
  it('has every manifest, the first as entry 0, in the order of their numbers', async () => {
    const { json } = await running.anonymous.get('/verifiabledata/tlog');
    const log = (json['logs'] as { kind: string; url: string; origin: string }[]).find(({ kind }) => kind === 'keys')!;
    expect(log.origin).toBe(current().subject);
    const { number } = current();
    const path = new URL(log.url).pathname;
    await vi.waitFor(async () => {
      const { bytes } = await running.anonymous.get(`${path}/checkpoint`);
      expect(new TextDecoder().decode(bytes).split('\n')[1]).toBe(String(number));
    }, PATIENCE);
    const { bytes } = await running.anonymous.get(`${path}/tile/entries/000.p/${number}`);
    const entries: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 2 + ((bytes[at]! << 8) | bytes[at + 1]!);
      entries.push(bytes.slice(at + 2, end));
      at = end;
    }
    expect(entries.map((entry) => readKeyManifest(entry).manifest.number)).toEqual(
      Array.from({ length: number }, (_, place) => place + 1),
    );
    const one = await running.anonymous.get('/verifiabledata/keys/manifests/1');
    expect(toHex(sha256(one.bytes))).toBe(toHex(sha256(entries[0]!)));
    expect((await running.anonymous.get(`/verifiabledata/keys/manifests/${number + 1}`)).status).toBe(404);
  });
});
