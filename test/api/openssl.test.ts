import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, encode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  foreignEventLeaf,
  foreignLeaf,
  foreignMap,
  foreignPeak,
  foreignRoot,
  foreignSign1,
} from '../scitt/foreign-reader.js';
import { hasOpenssl } from '../support/prerequisites.js';
import { startTestService, type TestService, template, until } from './test-service.js';

type Cbor = Map<unknown, unknown>;
type Proof = [first: number, second: number, path: Uint8Array[]];

const MASSIF_NODES = 1_048_864;
let running: TestService;
let folder: string;
/** Of an event in a tenancy log of three leaves. */
let path: string;

const patiently = async (from: string) => {
  const { status, bytes } = await until(
    () => running.owner.get(from),
    (answer) => answer.status === 200,
    40_000,
  );
  expect([from, status]).toEqual([from, 200]);
  return bytes;
};

beforeAll(async () => {
  if (!hasOpenssl) return;
  folder = mkdtempSync(join(tmpdir(), 'archivist-openssl-'));
  running = await startTestService({ PLUGIN_PORT: '0' });
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: {} });
  for (const subject of ['vcon://a', 'vcon://b']) {
    const body = { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: template(subject) };
    path = `/archivist/v2/${(await running.owner.post(`/archivist/v2/${asset.json['identity']}/events`, body)).json['identity']}`;
  }
  await patiently(`${path}/transparent-statement`);
});
afterAll(async () => {
  await running?.close();
  if (folder) rmSync(folder, { recursive: true });
});

function file(name: string, content: Uint8Array | string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const openssl = (...arguments_: string[]) => spawnSync('openssl', arguments_, { encoding: 'utf8' }).stdout.trim();
const pem = (jwk: object) =>
  String(createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' }));
const altered = (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte));

/** r and s as ASN.1 integers in a sequence (RFC 3279): what `openssl dgst` reads. */
function derSignature(raw: Uint8Array): Buffer {
  const integers = [raw.subarray(0, 32), raw.subarray(32)].map((half) => {
    const start = half.findIndex((byte) => byte !== 0);
    const short = half.subarray(start < 0 ? 31 : start);
    const positive = short[0]! < 0x80 ? [...short] : [0, ...short];
    return [0x02, positive.length, ...positive];
  });
  return Buffer.from([0x30, integers.flat().length, ...integers.flat()]);
}

/** What openssl says of an ES256 COSE_Sign1 over a payload, and over that payload with its last bit turned. */
function verdicts(message: Uint8Array, payload: Uint8Array, jwk: object): string[] {
  const [header, , , signature] = foreignSign1(message);
  const key = file('key.pem', pem(jwk));
  const der = file('signature.der', derSignature(signature));
  return [payload, altered(payload)].map((signed) => {
    const input = file('input', encode(['Signature1', header, new Uint8Array(), signed]));
    return openssl('dgst', '-sha256', '-verify', key, '-signature', der, input);
  });
}

/** The published key that a message's kid names. */
async function publishedKey(kid: Uint8Array): Promise<object> {
  const set = decode((await running.anonymous.get('/.well-known/scitt-keys')).bytes, { useMaps: true }) as Cbor[];
  const key = set.find((each) => Buffer.compare(each.get(2) as Uint8Array, kid) === 0)!;
  const text = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString('base64url');
  return { kty: 'EC', crv: 'P-256', x: text(-2), y: text(-3) };
}

const headerOf = (message: Uint8Array) => foreignMap(foreignSign1(message)[0]);
const kidOf = (message: Uint8Array) => headerOf(message).get(4) as Uint8Array;
const onlyProof = (message: Uint8Array) => ((foreignSign1(message)[1].get(396) as Cbor).get(-1) as unknown[])[0];
const EXPECTED = ['Verified OK', 'Verification failure'];

describe.skipIf(!hasOpenssl)('openssl verifies the raw signature of', () => {
  it('a signed statement', async () => {
    const statement = await patiently(`${path}/signed-statement`);
    const { verificationMethod } = (await running.anonymous.get('/archivist/v1/didweb/did.json')).json;
    const [{ publicKeyJwk }] = verificationMethod as [{ publicKeyJwk: { kid: string } }];
    expect(Buffer.from(kidOf(statement)).toString('base64url')).toBe(publicKeyJwk.kid);
    expect(verdicts(statement, foreignSign1(statement)[2]!, publicKeyJwk)).toEqual(EXPECTED);
  });

  it('a receipt of the statement log', async () => {
    const [header, unprotected, payload, signature] = foreignSign1(await patiently(`${path}/transparent-statement`));
    const [receipt] = unprotected.get(394) as [Uint8Array];
    const [size, index, siblings] = decode(onlyProof(receipt) as Uint8Array) as Proof;
    const entry = Buffer.concat([Buffer.of(0xd2), encode([header, new Map(), payload, signature])]);
    const root = foreignRoot(foreignLeaf(entry), size, index, siblings);
    expect(verdicts(receipt, root, await publishedKey(kidOf(receipt)))).toEqual(EXPECTED);
  });

  it('a receipt of the tenancy log', async () => {
    const receipt = await patiently(`${path}/receipt`);
    const proof = onlyProof(receipt) as Cbor;
    const event = JSON.parse(new TextDecoder().decode(await patiently(path)));
    const peak = foreignPeak(BigInt(proof.get(1) as number), foreignEventLeaf(event), proof.get(2) as Uint8Array[]);
    expect(verdicts(receipt, peak, await publishedKey(kidOf(receipt)))).toEqual(EXPECTED);
  });

  it('a seal', async () => {
    const { tenant_identity } = JSON.parse(new TextDecoder().decode(await patiently(path)));
    const base = `/verifiabledata/merklelogs/v1/mmrs/${tenant_identity}/0`;
    const seal = await patiently(`${base}/massifseals/0000000000000000.sth`);
    const massif = await patiently(`${base}/massifs/0000000000000000.log`);
    const node = (index: number) => massif.slice(MASSIF_NODES + 32 * index, MASSIF_NODES + 32 * (index + 1));
    const state = foreignMap(foreignSign1(seal)[2]!);
    // Three leaves: a mountain of two, and one alone.
    expect(state.get(1)).toBe(4);
    const signed = encode(new Map([...state, [8, [node(2), node(3)]]]));
    const claimed = ((headerOf(seal).get(15) as Cbor).get(8) as Cbor).get(1) as Cbor;
    const kid = new Uint8Array(Buffer.from(claimed.get(2) as string, 'base64url'));
    expect(verdicts(seal, signed, await publishedKey(kid))).toEqual(EXPECTED);
  });

  it('a checkpoint', async () => {
    const { logs } = (await running.anonymous.get('/verifiabledata/tlog')).json as {
      logs: { vkey: string; url: string }[];
    };
    const { vkey, url } = logs[0]!;
    const note = new TextDecoder().decode(await patiently(`${new URL(url).pathname}/checkpoint`));
    const body = `${note.slice(0, note.indexOf('\n\n'))}\n`;
    const blob = Buffer.from(note.trimEnd().split(' ').at(-1)!, 'base64');
    // The last 44 characters are the key's kind and its 32 bytes; base64 may have a + of its own.
    const x = Buffer.from(vkey.slice(-44), 'base64').subarray(-32);
    const key = file('note.pem', pem({ kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') }));
    const signature = file('note.sig', blob.subarray(4));
    const verdict = (text: string) =>
      openssl(
        'pkeyutl',
        '-verify',
        '-pubin',
        '-inkey',
        key,
        '-rawin',
        '-in',
        file('note.txt', text),
        '-sigfile',
        signature,
      );
    expect([verdict(body), verdict(body.replace('\n', '.\n'))]).toEqual([
      'Signature Verified Successfully',
      'Signature Verification Failure',
    ]);
  });
});
