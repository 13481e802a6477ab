import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toHex } from '../../src/core/bytes.js';
import { readKeyDocument } from '../../src/core/cose/key-document.js';
import { sha256 } from '../../src/core/sha256.js';
import type { AssetFreeEventDocument } from '../../src/core/statement/event-document.js';
import { decodeVkey, verifyNote } from '../../src/core/tlog/signed-note.js';
import { verifyReceipt } from '../../src/core/verify/verify-receipt.js';
import { verifyTransparentStatement } from '../../src/core/verify/verify-transparent-statement.js';
import { type Client, startTestService, type TestService } from '../api/test-service.js';
import { commandLine } from '../support/command-line.js';

const PATIENCE = { timeout: 40_000, interval: 200 };
let running: TestService;
let keysDir: string;
beforeAll(async () => {
  keysDir = await mkdtemp(join(tmpdir(), 'keys-command-'));
  running = await startTestService({ KEYS_DIR: keysDir });
}, 60_000);
afterAll(async () => {
  await running?.close();
  await rm(keysDir, { recursive: true });
});

const keys = (...args: string[]) => commandLine(['keys', ...args], { KEYS_DIR: keysDir, PUBLIC_URL: running.url });

type Listed = { keys: { key_id: string; role: string; state: string; valid_until: string }[] };
const listed = async () => (JSON.parse((await keys('list', '--json')).out) as Listed).keys;

/** A new event’s transparent statement, once it is there. */
async function transparentStatement(number: number): Promise<Uint8Array> {
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: {} });
  const event = await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, {
    operation: 'Record',
    behaviour: 'RecordEvidence',
    event_attributes: {
      payload: toHex(sha256(Uint8Array.of(number))),
      payload_hash_alg: 'SHA-256',
      subject: 'vcon://0192e8f5-0000-7000-8000-000000000001',
    },
  });
  return vi.waitFor(async () => {
    const answer = await running.owner.get(`/archivist/v2/${event.json['identity']}/transparent-statement`);
    expect(answer.status).toBe(200);
    return answer.bytes;
  }, PATIENCE);
}

async function publishedTrust() {
  const [logKeys, issuerKeys] = await Promise.all(
    ['/.well-known/scitt-keys', '/archivist/v1/didweb/did.json'].map(async (path) =>
      readKeyDocument((await running.anonymous.get(path)).bytes),
    ),
  );
  return { logKeys: logKeys!, issuerKeys: issuerKeys! };
}

describe('vcon-archivist keys', () => {
  it('names --url if PUBLIC_URL is not reachable from here, and does not propose to change PUBLIC_URL', async () => {
    const unreachable = { KEYS_DIR: keysDir, PUBLIC_URL: 'http://127.0.0.1:1' };
    const { err, exitCode } = await commandLine(['keys', 'list'], unreachable);
    expect([exitCode, err]).toEqual([
      1,
      expect.stringMatching(/^error: http:\/\/127\.0\.0\.1:1 does not answer.* --url /),
    ]);
    expect(err).not.toContain('PUBLIC_URL');
    expect((await commandLine(['keys', 'list', '--url', running.url], unreachable)).exitCode).toBe(0);
  });

  it('lists one active key for each role, and nothing secret', async () => {
    const found = await listed();
    expect(found.map(({ role, state }) => `${role} ${state}`).sort()).toEqual(
      ['chain', 'issuer', 'note', 'seal', 'statement_receipt', 'token'].map((role) => `${role} active`),
    );
    expect(JSON.stringify(found)).not.toMatch(/"d"|PRIVATE|pepper/);
  });

  it('rotates the keys of evidence: what they signed before and after verifies with what is published', async () => {
    const before = await transparentStatement(1);
    const old = await publishedTrust();
    for (const role of ['issuer', 'statement_receipt', 'seal']) {
      const { out, exitCode } = await keys('rotate', role);
      expect([exitCode, out.split('\n').length]).toEqual([0, 3]);
    }
    const after = await transparentStatement(2);
    const trust = await publishedTrust();
    await verifyTransparentStatement(before, trust);
    await verifyTransparentStatement(after, trust);
    await expect(verifyTransparentStatement(after, old)).rejects.toMatchObject({
      code: expect.stringMatching(/not_trusted/),
    });
    const retired = (await listed()).filter(({ state }) => state === 'retired');
    expect(retired.map(({ role }) => role).sort()).toEqual(['issuer', 'seal', 'statement_receipt']);
    expect(retired.every(({ valid_until: until }) => until !== '')).toBe(true);
  });

  it('tells the Owners of every organisation of a rotation, provably', async () => {
    const other = await running.client({ roles: ['OWNER'], otherTenancy: true });
    const noteKey = async (state: string) =>
      (await listed()).find((key) => key.role === 'note' && key.state === state)?.key_id;
    const before = await noteKey('active');
    expect((await keys('rotate', 'note')).exitCode).toBe(0);
    const details = { role: 'note', active_key_id: await noteKey('active'), retired_key_id: before };
    const entryOf = async (owner: Client) => {
      const { json } = await owner.get('/archivist/v1/security_events?action=keys.rotate&resource=keys/note');
      const entries = json['security_events'] as AssetFreeEventDocument[];
      expect(entries.map(({ attributes }) => attributes)).toEqual([
        {
          action: 'keys.rotate',
          outcome: 'success',
          resource: 'keys/note',
          actor: { issuer: '', subject: 'operator', display_name: 'Operator' },
          details,
        },
      ]);
      return entries[0]!;
    };
    for (const owner of [running.owner, other]) {
      const path = `/archivist/v1/${(await entryOf(owner)).identity}/receipt`;
      const receipt = await vi.waitFor(async () => {
        const answer = await owner.get(path);
        expect(answer.status).toBe(200);
        return answer.bytes;
      }, PATIENCE);
      const event = await entryOf(owner);
      const trust = await publishedTrust();
      await verifyReceipt(receipt, { event }, trust);
      const forged = { ...event, attributes: { ...event.attributes, details: { ...details, role: 'chain' } } };
      await expect(verifyReceipt(receipt, { event: forged }, trust)).rejects.toMatchObject({
        code: 'receipt_signature_invalid',
      });
    }
  });

  it('has a rotated note key sign along, for those who follow a log by it', async () => {
    const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as {
      logs: { url: string; vkey: string }[];
    };
    const [{ url, vkey: old }] = logs as [{ url: string; vkey: string }];
    const path = new URL(url).pathname;
    const text = async (name: string) =>
      new TextDecoder().decode((await running.anonymous.get(`${path}/${name}`)).bytes);
    const signedBy = async (...vkeys: string[]) => verifyNote(await text('checkpoint'), vkeys.map(decodeVkey));
    expect((await keys('rotate', 'note')).exitCode).toBe(0);
    const newest = (await text('vkey')).trim();
    expect(newest).not.toBe(old);
    expect(await signedBy(old)).toBe(await signedBy(newest));
  });

  it('refuses to rotate a role that does not exist, names the roles, and ends with 2', async () => {
    const roles = 'issuer, statement_receipt, seal, note, token, chain';
    const refused = async (...change: string[]) => {
      const { err, exitCode } = await keys(...change);
      return [exitCode, err];
    };
    const named = (known: string) => [2, expect.stringContaining(`there is no role wallet: the roles are ${known}`)];
    expect(await refused('rotate', 'wallet')).toEqual(named(`${roles}, root`));
    for (const change of ['rotate', 'activate'])
      expect(await refused('propose', change, 'wallet', '--output', 'unsigned')).toEqual(named(roles));
  });

  it.each([
    [['rotate'], 'propose rotate needs a role'],
    [['activate', '--stolen'], 'propose activate needs a role'],
    [['revoke'], 'propose revoke needs a key id'],
  ])('says what a proposed change lacks: %j', async (change, says) => {
    const { err, exitCode } = await keys('propose', ...change, '--output', join(keysDir, 'unsigned'));
    expect([exitCode, err]).toEqual([2, expect.stringContaining(says)]);
  });
});
