import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditPayloadHash } from '../../src/scitt/payload-hash/audit-payload-hash.js';
import { foreignLeaf, foreignMap, foreignReceiptHolds } from '../scitt/foreign-reader.js';
import { type SampleIssuer, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { sendCose } from './send-cose.js';
import { startTestService, type TestService } from './test-service.js';

const KID = 'conserver-key-1';
const conserver = sampleIssuer();
const PRIVATE_PEM = conserver.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
let folder: string;
let running: TestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archivist-pinned-'));
  const file = join(folder, 'issuers.json');
  const pem = conserver.publicKey.export({ type: 'spki', format: 'pem' });
  await writeFile(file, JSON.stringify({ issuers: [{ issuer: 'conserver', kid: KID, public_key: pem }] }));
  running = await startTestService({ PLUGIN_PORT: '0', PAYLOAD_HASH_ISSUERS: file, PAYLOAD_HASH_RATE: '40' });
});
afterAll(async () => {
  await running?.close();
  await rm(folder, { recursive: true, force: true });
});

/** As the stock link signs: claims at 13, no embedded key, the operation itself as payload. */
function linkStatement(text: string, signer: SampleIssuer = conserver, issuer = 'conserver'): Uint8Array {
  return sampleStatement(signer, {
    issuer,
    subject: 'tel:+15550100',
    claimsLabel: 13,
    confirmation: false,
    payload: new TextEncoder().encode(text),
    headers: new Map<number, Uint8Array | string>([
      [4, new TextEncoder().encode(KID)],
      [-6801, ''],
    ]),
  });
}

const post = (statement: Uint8Array) => sendCose(running.url, running.anonymous, '/payload-hash/entries', statement);
const get = (path: string) => sendCose(running.url, running.anonymous, path);
const titleOf = (bytes: Uint8Array) => foreignMap(bytes).get(-1);
const receiptKey = async () => {
  const { jwks_uri: uri } = decode((await get('/payload-hash/.well-known/transparency-configuration')).bytes);
  const { keys } = (await (await fetch(uri)).json()) as { keys: [Record<string, unknown>] };
  return keys[0];
};

describe('the payload-hash profile', () => {
  it('answers a statement of a pinned issuer with its receipt, over the hash of the payload', async () => {
    const payloads = ['a3f5:vcon_created:+15550100', 'a3f5:vcon_created:+15550101', 'a3f5:vcon_created:+15550102'];
    for (const payload of payloads) {
      const answer = await post(linkStatement(payload));
      expect(answer.status).toBe(201);
      const leaf = foreignLeaf(new Uint8Array(createHash('sha256').update(payload).digest()));
      expect(foreignReceiptHolds(answer.bytes, leaf, await receiptKey())).toBe(true);
      const other = foreignLeaf(new Uint8Array(createHash('sha256').update('another').digest()));
      expect(foreignReceiptHolds(answer.bytes, other, await receiptKey())).toBe(false);
      const again = await get(new URL(answer.headers.get('location')!).pathname);
      expect([again.status, again.bytes]).toEqual([200, answer.bytes]);
    }
  });

  it('answers the same statement with its first entry', async () => {
    const statement = linkStatement('b:vcon_created:+15550100');
    const answers = await Promise.all([post(statement), post(statement), post(statement)]);
    const again = await post(statement);
    expect([...answers, again].map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set([...answers, again].map(({ headers }) => headers.get('location'))).size).toBe(1);
  });

  it.each([
    ['an issuer who is not pinned', linkStatement('c', sampleIssuer(), 'somebody')],
    ['a pinned issuer with another key', linkStatement('c', sampleIssuer())],
    ['an issuer who is not pinned, with an embedded key', sampleStatement(sampleIssuer())],
  ])('refuses %s', async (_who, statement) => {
    const answer = await post(statement);
    expect([answer.status, titleOf(answer.bytes)]).toEqual([400, 'Rejected']);
  });

  it('accepts a statement only as COSE', async () => {
    const headers = { 'content-type': 'application/json' };
    const statement = linkStatement('f:vcon_created:+15550100');
    const answer = await sendCose(running.url, running.anonymous, '/payload-hash/entries', statement, headers);
    expect(answer.status).toBe(415);
  });

  it.each([
    ['no UUID', 'nonsense', 400, 'Invalid locator'],
    ['of nobody', '00000000-0000-4000-8000-000000000000', 404, 'Operation Not Found'],
  ])('has no receipt under an id that is %s', async (_what, id, status, title) => {
    const answer = await get(`/payload-hash/entries/${id}`);
    expect([answer.status, titleOf(answer.bytes)]).toEqual([status, title]);
  });

  it('serves no statement, and its log is none that is followed', async () => {
    const answer = await post(linkStatement('d:vcon_created:+15550100'));
    const id = answer.headers.get('location')!.split('/').at(-1)!;
    for (const path of [`/payload-hash/entries/${id}/statement`, `/entries/${id}`, `/entries/${id}/statement`])
      expect((await get(path)).status).toBe(404);
    const { json } = await running.anonymous.get('/verifiabledata/tlog');
    const kinds = (json['logs'] as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['keys', 'private', 'public']);
  });

  it('refuses what its halted log could never commit, as every other door does, and stores nothing', async () => {
    const statement = linkStatement('h:vcon_created:+15550100');
    const client = await running.client({ otherTenancy: true });
    const doors = [
      () => post(statement),
      () => sendCose(running.url, client, '/entries', sampleStatement(sampleIssuer())),
      () => sendCose(running.url, client, '/archivist/v1/scitt/entries', sampleStatement(sampleIssuer())),
    ];
    const rows = () =>
      running.service.parts.database.inTransaction('system', (tx) =>
        tx.query(`SELECT (SELECT count(*) FROM archivist.asset) AS assets,
                         (SELECT count(*) FROM archivist.statement) AS statements`),
      );
    const before = await rows();
    const halt = async (reason: string, ready: boolean) => {
      await running.asOwner(`UPDATE archivist.log SET halted = ${reason} WHERE structure = 'RFC9162_SHA256'`);
      const isReady = async () => (await running.anonymous.get('/readyz')).json['ready'];
      await expect.poll(isReady, { timeout: 10_000 }).toBe(ready);
    };
    await halt(`'a test'`, false);
    for (const send of doors) {
      const { status, headers, bytes } = await send();
      expect([status, headers.get('retry-after'), Buffer.from(bytes).toString()]).toEqual([
        503,
        '60',
        expect.stringContaining('The log that this belongs in is halted'),
      ]);
    }
    expect(await rows()).toEqual(before);
    await halt('NULL', true);
    expect((await post(statement)).status).toBe(201);
  });

  it('limits the requests of an address', async () => {
    const answers = await Promise.all(Array.from({ length: 80 }, () => post(new Uint8Array([0]))));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(titleOf(refused[0]!.bytes)).toBe('Too Many Requests');
    expect(refused[0]!.headers.get('retry-after')).toBe('1');
  });
});

describe('the audit of the payload-hash profile', () => {
  const audit = async () => {
    const faults: string[] = [];
    const { database } = running.service.parts;
    await auditPayloadHash({ database, fault: (_, what) => void faults.push(what) });
    return faults;
  };

  beforeAll(async () => {
    await post(linkStatement('f:vcon_created:+15550100'));
    await post(linkStatement('f:vcon_created:+15550101'));
    await running.asOwner(
      'CREATE TABLE public.kept AS SELECT entry_id, submitted FROM archivist.payload_hash_registration',
    );
  });

  it.each([
    ['that the submitted bytes are no statement', `'\\x00'`, /^entry \S+: the submitted statement: /],
    [
      'that the submitted statement has another payload than the log',
      '(SELECT submitted FROM archivist.payload_hash_registration ORDER BY entry_id DESC LIMIT 1)',
      /^entry \S+: the log holds a different payload$/,
    ],
  ])('finds %s', async (_, submitted, fault) => {
    const first = 'entry_id = (SELECT min(entry_id::text)::uuid FROM archivist.payload_hash_registration)';
    const set = (value: string) =>
      running.asOwner(`UPDATE archivist.payload_hash_registration r SET submitted = ${value} WHERE ${first}`);
    await set(submitted);
    const faults = await audit();
    await set('(SELECT k.submitted FROM public.kept k WHERE k.entry_id = r.entry_id)');
    expect(faults).toEqual([expect.stringMatching(fault)]);
    expect(await audit()).toEqual([]);
  });
});

describe('without pinned issuers', () => {
  it('nothing of the profile is there', async () => {
    const plain = await startTestService({ PLUGIN_PORT: '0' });
    try {
      const answer = await sendCose(plain.url, plain.anonymous, '/payload-hash/entries', linkStatement('e'));
      expect(answer.status).toBe(404);
    } finally {
      await plain.close();
    }
  });

  it.each([
    ['no JSON', 'none'],
    ['no issuers', '{"issuers": []}'],
    ['a private key in PEM', JSON.stringify({ issuers: [{ issuer: 'a', kid: 'b', public_key: PRIVATE_PEM }] })],
    ['a private key', '{"issuers": [{"issuer": "a", "kid": "b", "public_key": {"kty": "EC", "d": "secret"}}]}'],
  ])('the service does not start with a file of %s', async (_what, text) => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, text);
    const started = startTestService({ PLUGIN_PORT: '0', PAYLOAD_HASH_ISSUERS: file });
    await expect(started).rejects.toThrow(/PAYLOAD_HASH_ISSUERS/);
    await expect(started).rejects.not.toThrow(/secret|BEGIN/);
  });
});
