import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run-cli.js';
import { concatBytes, fromBase64, utf8 } from '../../src/core/bytes.js';
import { appendLeaves } from '../../src/core/mmr/append-leaves.js';
import { rfc9162Leaf } from '../../src/core/rfc9162/rfc9162-leaf.js';
import { rfc9162Parent } from '../../src/core/rfc9162/rfc9162-parent.js';
import { rfc9162Root } from '../../src/core/rfc9162/rfc9162-root.js';
import { encodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { encodeNote, encodeVkey, NoteKeyType, signatureLine } from '../../src/core/tlog/signed-note.js';
import { parseTilePath, TILE_WIDTH } from '../../src/core/tlog/tile.js';
import { flipBit } from '../core/massif/sample-log.js';
import { type SampleSealedLog, sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../core/verify/sample-transparent-statement.js';

type Answer = (path: string) => Promise<Uint8Array | string | undefined> | Uint8Array | string | undefined;

let server: Server;
let url: string;
let answer: Answer = () => undefined;
let folder: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = request.url === '/verifiabledata/tlog' ? '{"logs":[]}' : await answer(request.url!);
    if (body === undefined) response.writeHead(404).end();
    else response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((closed) => server.close(closed)));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'monitor-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function look(...args: string[]): Promise<{ out: string; err: string; exitCode: number }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { print: (text: string) => out.push(text), complain: (text: string) => err.push(text), exitCode: 0 };
  await runCli(['monitor', url, '--once', '--state', join(folder, 'state'), ...args], terminal);
  return { out: out.join('\n'), err: err.join('\n'), exitCode: terminal.exitCode };
}

describe('vcon-archivist monitor of a tenancy’s log', () => {
  const log = sampleSealedLog({ leaves: 14 });
  const fork = sampleSealedLog({ leaves: 14, event: (leaf) => (leaf < 2 ? {} : { operation: 'Forged' }) });
  let keys: string;
  beforeEach(() => {
    keys = join(folder, 'keys.json');
    writeFileSync(keys, JSON.stringify({ keys: [sampleSigners.sealer.publicKey] }));
  });

  /** The files of a log when it had so many leaves, as a service publishes them. */
  function published(of: SampleSealedLog, leaves: number, change: (file: Uint8Array) => Uint8Array = (f) => f): Answer {
    return async (path) => {
      if (path.startsWith('/verifiabledata/?comp=blobs'))
        return `<Blob><Name>v1/mmrs/tenant/${SAMPLE_TENANCY}/0/massifs/0000000000000000.log</Name></Blob>`;
      const [, kind, number] = /0\/(massifs|massifseals)\/(\d{16})\.(?:log|sth)$/.exec(path) ?? [];
      const massif = Number(number);
      if (kind === undefined || massif * 4 >= leaves) return undefined;
      const held = Math.min(leaves, massif * 4 + 4);
      return kind === 'massifs' ? change(of.massif(massif, held)) : of.seal(held);
    };
  }

  const monitor = () => look('--log-keys', keys);

  it('says what it saw, at the first look and as the log grows over massifs', async () => {
    for (const leaves of [1, 1, 3, 4, 5, 12, 14]) {
      answer = published(log, leaves);
      const { out, exitCode } = await monitor();
      expect(out).toContain(`tenant/${SAMPLE_TENANCY}: ${leaves} leaves`);
      expect(exitCode).toBe(0);
    }
  });

  it.each<[string, number, () => Answer]>([
    ['a fork that grew', 5, () => published(fork, 9)],
    ['a fork of the same size', 5, () => published(fork, 5)],
    ['a rollback', 6, () => published(log, 5)],
    ['a rollback over a massif', 6, () => published(log, 3)],
    ['a node that does not recompute', 5, () => published(log, 6, (file) => flipBit(file, file.length - 1))],
    ['a seal by another key', 5, () => published(sampleSealedLog({ leaves: 9, signer: sampleSigners.stranger }), 9)],
  ])('ends with an alarm at %s, keeps what it knew, and the proof', async (_, leaves, later) => {
    answer = published(log, leaves);
    expect((await monitor()).exitCode).toBe(0);
    answer = later();
    const { err, exitCode } = await monitor();
    expect(exitCode).toBe(1);
    expect(err).toContain(`ALARM tenant/${SAMPLE_TENANCY}`);
    answer = published(log, leaves + 1);
    expect((await monitor()).exitCode).toBe(0);
  });

  it('keeps the contradicting files', async () => {
    answer = published(log, 5);
    await monitor();
    answer = published(fork, 9);
    await monitor();
    expect(readdirSync(join(folder, 'state/tenant', SAMPLE_TENANCY, 'alarm')).sort()).toEqual(['head.log', 'head.sth']);
  });

  it('goes on following a log that the service is silent about', async () => {
    answer = published(log, 5);
    await monitor();
    answer = (path) => (path.includes('comp=blobs') ? '<Blobs></Blobs>' : undefined);
    const { err, exitCode } = await monitor();
    expect([exitCode, err.includes('a rollback')]).toEqual([1, true]);
  });
});

describe('vcon-archivist monitor of a statement log', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const origin = 'log/0192e8f5-0000-7000-8000-000000000009';
  const key = {
    name: origin,
    type: NoteKeyType.ed25519,
    publicKey: fromBase64(publicKey.export({ format: 'jwk' }).x!),
  };
  const entry = (number: number, forged = false) => utf8(`${forged ? 'forged' : 'entry'} ${number}`);

  interface Shown {
    readonly size: number;
    readonly forgedFrom?: number;
    readonly lyingBundle?: boolean;
    readonly otherOrigin?: boolean;
  }

  function published({ size, forgedFrom = Number.POSITIVE_INFINITY, lyingBundle, otherOrigin }: Shown): Answer {
    const entries = Array.from({ length: size }, (_, number) => entry(number, number >= forgedFrom));
    const leaves = entries.map((each) => rfc9162Leaf(each));
    return (path) => {
      if (path.endsWith('/checkpoint')) {
        const root = rfc9162Root(appendLeaves(rfc9162Parent, 0n, [], leaves).peaks);
        const text = encodeCheckpoint({ origin: otherOrigin ? 'log/other' : origin, size: BigInt(size), root });
        return encodeNote(text, [signatureLine(key, new Uint8Array(sign(null, utf8(text), privateKey)))]);
      }
      const name = parseTilePath(path.replace(/^.*\/tile\//, ''));
      if (!name || name.level === 1) return undefined;
      const first = Number(name.index) * TILE_WIDTH;
      if (first + name.width > size) return undefined;
      if (name.level === 0) return concatBytes(...leaves.slice(first, first + name.width));
      const shown = entries.slice(first, first + name.width).map((each) => (lyingBundle ? utf8('a lie') : each));
      return concatBytes(...shown.flatMap((each) => [Uint8Array.of(0, each.length), each]));
    };
  }

  const monitor = () => look('--vkey', encodeVkey(key));

  it('says what it saw as the log grows over tiles', async () => {
    for (const size of [0, 1, 1, 255, 256, 257, 600]) {
      answer = published({ size });
      const { out, err, exitCode } = await monitor();
      expect(err).toBe('');
      expect(out).toContain(`${origin}: ${size} entries`);
      expect(exitCode).toBe(0);
    }
  });

  it.each<[string, Shown]>([
    ['a fork that grew', { size: 400, forgedFrom: 290 }],
    ['a fork of the same size', { size: 300, forgedFrom: 10 }],
    ['a rollback', { size: 299 }],
    ['entries that are not in the tree', { size: 400, lyingBundle: true }],
    ['the checkpoint of another log', { size: 400, otherOrigin: true }],
  ])('ends with an alarm at %s', async (_, shown) => {
    answer = published({ size: 300 });
    expect((await monitor()).exitCode).toBe(0);
    answer = published(shown);
    const { err, exitCode } = await monitor();
    expect([exitCode, err.includes('ALARM')]).toEqual([1, true]);
    answer = published({ size: 301 });
    expect((await monitor()).exitCode).toBe(0);
  });

  it('compares with what it saw also when a crash left the peaks of another state', async () => {
    answer = published({ size: 300 });
    await monitor();
    writeFileSync(join(folder, 'state', origin, 'peaks'), new Uint8Array(64));
    answer = published({ size: 310, forgedFrom: 7 });
    expect((await monitor()).exitCode).toBe(1);
    answer = published({ size: 310 });
    expect((await monitor()).exitCode).toBe(0);
  });
});

describe('vcon-archivist monitor', () => {
  it.each([
    ['nothing to trust', []],
    ['a verifier key that is none', ['--vkey', 'log/1+00000000+AAAA']],
    ['seconds that are none', ['--seconds', '0', '--vkey', 'x']],
  ])('exits 2 with %s', async (_, args) => {
    const { err, exitCode } = await look(...args);
    expect([exitCode, err !== '']).toEqual([2, true]);
  });
});
