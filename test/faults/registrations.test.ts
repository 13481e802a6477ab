import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decode } from 'cborg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statementEntry } from '../../src/core/statement/statement-entry.js';
import { foreignLeaf, foreignReceiptHolds, foreignSign1 } from '../scitt/foreign-reader.js';
import { sampleDigest, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { createDeployment, type Deployment, ENGINES, type RunningProcess, requestToken } from './deployment.js';

/** Between the durable steps that only registrations take, and some that they share with events. */
const SCRAPI = ['accept.before', 'accept.after', 'commit.inside', 'publish.numbered'];
const PAYLOAD_HASH = ['register.after', 'commit.inside'];
/** Between the steps of a batch that is prepared while its statements are committed. */
const EARLY = ['accept.after', 'seal.signed', 'publish.numbered'];
const EACH = 3;
const issuer = sampleIssuer();

/** One statement, and where the service said that its entry is. */
interface Sent {
  readonly path: '/entries' | '/payload-hash/entries';
  readonly payload: Uint8Array;
  readonly statement: Uint8Array;
  location?: string;
}

let number = 0;
function newStatement(path: Sent['path']): Sent {
  number += 1;
  const payload = sampleDigest(`call ${number}`);
  return { path, payload, statement: sampleStatement(issuer, { payload }) };
}

describe.each(ENGINES)('on %s', (engine) => {
  const sent: Sent[] = [];
  let deployment: Deployment;
  let environment: Record<string, string>;
  /** The process that the next failpoint kills. */
  let clean: RunningProcess;
  let token: string;

  beforeAll(async () => {
    deployment = await createDeployment(engine);
    const file = join(deployment.folder, 'issuers.json');
    const key = {
      issuer: 'https://issuer.example',
      kid: 'testkey',
      public_key: issuer.publicKey.export({ format: 'jwk' }),
    };
    await writeFile(file, JSON.stringify({ issuers: [key] }));
    environment = { ...deployment.armable, PAYLOAD_HASH_ISSUERS: file };
    clean = await deployment.start(environment);
    token = await requestToken(clean.url);
  });
  afterAll(() => deployment?.close());

  /** Sends it; an answer that does not come is none. Resolves to the receipt when it is answered with one. */
  async function send(url: string, each: Sent): Promise<Uint8Array | undefined> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/cose' };
    const init = { method: 'POST', headers, body: each.statement.slice(), redirect: 'manual' } as const;
    const answer = await fetch(`${url}${each.path}`, init).catch(() => undefined);
    const location = answer?.headers.get('location');
    if (!answer || location === undefined || location === null) return undefined;
    expect(each.location ?? location).toBe(location);
    each.location = location;
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Sends them to a service that dies at the failpoint, and again to the one that is started after it. */
  async function sendTwice(fresh: readonly Sent[], failpoint: string): Promise<void> {
    sent.push(...fresh);
    await deployment.arm(failpoint);
    await Promise.all(fresh.map((each) => send(clean.url, each)));
    expect([failpoint, await clean.ended]).toEqual([failpoint, 'SIGKILL']);
    await deployment.arm(undefined);
    await deployment.expireLeases();
    clean = await deployment.start(environment);
    await Promise.all(fresh.map((each) => send(clean.url, each)));
  }

  it.each([
    ...SCRAPI.map((name) => ['/entries', name]),
    ...PAYLOAD_HASH.map((name) => ['/payload-hash/entries', name]),
  ])(
    'a statement at %s is in its log once, whatever was answered before the service was killed at %s',
    async (path, failpoint) => {
      const fresh = Array.from({ length: EACH }, () => newStatement(path as Sent['path']));
      await sendTwice(fresh, failpoint!);
    },
    180_000,
  );

  it.each(EARLY)(
    'a statement whose batch was prepared is in its log once, whatever was answered before the service was killed at %s',
    async (failpoint) => {
      const [first, ...fresh] = Array.from({ length: 1 + EACH }, () => newStatement('/entries'));
      sent.push(first!);
      // From its end on, this process has left the log.
      expect((await send(clean.url, first!))!.length).toBeGreaterThan(0);
      await sendTwice(fresh, failpoint);
    },
    180_000,
  );

  it('every statement has one entry with a receipt that holds, and no two share a leaf', async () => {
    const { url } = clean;
    const { keys } = (await (await fetch(`${url}/jwks`)).json()) as { keys: [Record<string, unknown>] };
    const leaves = new Set<string>();
    for (const each of sent) {
      const receipt = (await send(url, each))!;
      const committed = each.path === '/entries' ? statementEntry(each.statement) : payloadHash(each.payload);
      expect(foreignReceiptHolds(receipt, foreignLeaf(committed), keys[0])).toBe(true);
      const [, unprotected] = foreignSign1(receipt);
      const [proof] = (unprotected.get(396) as Map<number, Uint8Array[]>).get(-1)!;
      leaves.add(`${each.path} ${decode(proof!)[1]}`);
    }
    expect(leaves.size).toBe(sent.length);
  }, 180_000);
});

const payloadHash = (payload: Uint8Array) => new Uint8Array(createHash('sha256').update(payload).digest());
