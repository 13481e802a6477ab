import { sign } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { counted } from '../../src/cli/counted.js';
import { fromBase64, utf8 } from '../../src/core/bytes.js';
import { Header } from '../../src/core/cose/labels.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { TRIE_START } from '../../src/core/massif/massif-layout.js';
import { readSeal } from '../../src/core/receipt/seal.js';
import { encodeNote, encodeVkey, signatureLine } from '../../src/core/tlog/signed-note.js';
import { newKeyPair } from '../../src/platform/keys/new-key-pair.js';
import { lockFolder } from '../../src/platform/postgres/folder-lock.js';
import { flipBit } from '../core/massif/sample-log.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { commandLine } from '../support/command-line.js';
import { publishedService } from './published-service.js';
import { type Answer, type Lies, publishedTenancyLog, sampleStatementLog } from './sample-published-logs.js';

const OTHER_TENANCY = '9f4b1d8a-0000-4000-8000-000000000000';
let service: Awaited<ReturnType<typeof publishedService>>;
let url: string;
let answer: Answer = () => undefined;
let folder: string;

beforeAll(async () => {
  service = await publishedService((path) => answer(path));
  url = service.url;
});
afterAll(() => service.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'monitor-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const look = (...args: string[]) => commandLine(['monitor', url, '--once', '--state', join(folder, 'state'), ...args]);

describe('vcon-archivist monitor of a tenancy’s log', () => {
  const log = sampleSealedLog({ leaves: 14 });
  const fork = sampleSealedLog({ leaves: 14, event: (leaf) => (leaf < 2 ? {} : { operation: 'Forged' }) });
  let keys: string;
  beforeEach(() => {
    keys = join(folder, 'keys.json');
    writeFileSync(keys, JSON.stringify({ keys: [sampleSigners.sealer.publicKey] }));
  });

  const published = publishedTenancyLog;
  const withSeal =
    (shown: Answer, change: (seal: Uint8Array) => Uint8Array): Answer =>
    async (path) => {
      const body = await shown(path);
      return path.endsWith('.sth') && body instanceof Uint8Array ? change(body) : body;
    };
  const peakReceipts = (seal: Uint8Array, change: (receipts: Uint8Array[]) => Uint8Array[]) => {
    const sign1 = decodeSign1(seal);
    const receipts = change(sign1.unprotectedHeader.get(Header.peakReceipts) as Uint8Array[]);
    return encodeSign1({ ...sign1, unprotectedHeader: new Map([[Header.peakReceipts, receipts]]) });
  };
  const flipInReceipt = (seal: Uint8Array) =>
    peakReceipts(seal, (all) => all.map((each, at) => (at === 1 ? flipBit(each, each.length - 1) : each)));
  const withoutReceipts = (seal: Uint8Array) => peakReceipts(seal, () => []);
  /** For every number that is asked for, the last file that there really is. */
  const endlessSeals =
    (shown: Answer): Answer =>
    async (path) =>
      (await shown(path)) ?? shown(path.replace(/\d{16}/, '0000000000000001'));

  const monitor = () => look('--log-keys', keys);

  it('goes on when the log grows over a massif’s end while it is read', async () => {
    let leaves = 3;
    answer = (path) => {
      if (path.endsWith('0000000000000001.sth')) leaves = 6;
      return published(log, leaves)(path);
    };
    const { out, exitCode } = await monitor();
    expect([exitCode, out.includes('6 leaves in 2 massifs')]).toEqual([0, true]);
  });

  it('follows the logs of every page of the list, each once', async () => {
    const page = (tenancy: string, marker: string) =>
      `<Name>v1/mmrs/tenant/${tenancy}/0/massifs/0.log</Name>`.repeat(2) + `<NextMarker>${marker}</NextMarker>`;
    answer = (path) => {
      if (!path.includes('comp=blobs')) return published(log, 5)(path);
      return path.endsWith('&marker=2') ? page(SAMPLE_TENANCY, '') : page(OTHER_TENANCY, '2');
    };
    const { out, err } = await monitor();
    expect([out.match(/tenant/g)?.length, err.includes(OTHER_TENANCY)]).toEqual([1, true]);
    expect(out).toContain(`tenant/${SAMPLE_TENANCY}: 5 leaves`);
    answer = (path) => (path.includes('comp=blobs') ? page(SAMPLE_TENANCY, 'again') : undefined);
    expect((await monitor()).err).toContain('more than 1000 pages');
  });

  it('says that its own memory is damaged, and does not accuse the log', async () => {
    answer = published(log, 5);
    await monitor();
    const kept = join(folder, 'state/tenant', SAMPLE_TENANCY);
    const seal = readFileSync(join(kept, 'head.sth'));
    const massif = readFileSync(join(kept, 'head.log'));
    const otherLog = sampleSealedLog({ leaves: 5, tenancy: OTHER_TENANCY });
    const damages: [string, Uint8Array | undefined][] = [
      ['head.sth', flipBit(new Uint8Array(seal), seal.length - 1)],
      ['head.sth', await otherLog.seal()],
      ['head.log', flipBit(new Uint8Array(massif), massif.length - 1)],
      ['head.log', massif.subarray(0, 100)],
      ['head.log', undefined],
    ];
    for (const [name, content] of damages) {
      if (content) writeFileSync(join(kept, name), content);
      else rmSync(join(kept, name));
      const { err, exitCode } = await monitor();
      expect([exitCode, err.includes('the saved state does not verify'), err.includes('ALARM')]).toEqual([
        2,
        true,
        false,
      ]);
      writeFileSync(join(kept, 'head.sth'), seal);
      writeFileSync(join(kept, 'head.log'), massif);
    }
    writeFileSync(join(kept, '.unfinished-head.sth-1'), 'a crash left this');
    expect((await monitor()).exitCode).toBe(0);
  });

  it('has its folder alone', async () => {
    const lock = await lockFolder(join(folder, 'state'));
    answer = published(log, 5);
    const { err, exitCode } = await monitor();
    expect([exitCode, err.includes('another process')]).toEqual([2, true]);
    await lock.release();
    expect((await monitor()).exitCode).toBe(0);
  });

  it('does not say well of what it could not look at', async () => {
    answer = (path) => (path.includes('comp=blobs') ? '<Blobs></Blobs>' : undefined);
    expect((await monitor()).exitCode).toBe(2);
    answer = published(log, 5);
    await monitor();
    answer = (path) => (path.endsWith('.log') ? undefined : published(log, 5)(path));
    const { err, exitCode } = await monitor();
    expect([exitCode, err.includes('does not exist')]).toEqual([2, true]);
  });

  it('takes a view that is frozen for too long for a view apart', async () => {
    const seal = await log.seal(5);
    answer = withSeal(published(log, 5), (shown) => (readSeal(shown).state.size === 8n ? seal : shown));
    const patient = () => look('--log-keys', keys, '--silence', '2');
    expect((await patient()).exitCode).toBe(0);
    const before = new Date(Date.now() - 3 * 3_600_000);
    utimesSync(join(folder, 'state/tenant', SAMPLE_TENANCY, 'size'), before, before);
    const { err, exitCode } = await patient();
    expect([exitCode, err.includes('nothing new for more than 2 hours')]).toEqual([1, true]);
    // One that is withheld is as good as frozen.
    answer = (path) => (path.endsWith('.log') ? undefined : published(log, 5)(path));
    expect((await patient()).err).toContain('nothing new for more than 2 hours');
    answer = published(log, 6);
    expect((await patient()).exitCode).toBe(0);
  });

  it('says what it saw, at the first look and as the log grows over massifs', async () => {
    for (const leaves of [1, 1, 3, 4, 5, 12, 14]) {
      answer = published(log, leaves);
      const { out, exitCode } = await monitor();
      expect(out).toContain(`tenant/${SAMPLE_TENANCY}: ${counted(leaves, 'leaf', 'leaves')} in `);
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
    ['another key beside a leaf that it showed', 6, () => published(log, 7, (file) => flipBit(file, TRIE_START))],
    ['another time of a leaf that it showed', 6, () => published(log, 7, (file) => flipBit(file, TRIE_START + 63))],
    ['something in the unused room of a file', 5, () => published(log, 6, (file) => flipBit(file, 40))],
    ['a peak signature that nobody can use', 5, () => withSeal(published(log, 6), (seal) => flipInReceipt(seal))],
    ['no peak signatures', 5, () => withSeal(published(log, 6), (seal) => withoutReceipts(seal))],
    ['seals without an end', 5, () => endlessSeals(published(log, 6))],
    ['a body cut short', 5, () => published(log, 6, (file) => file.slice(0, -5))],
    ['nothing left of it', 5, () => (path) => (path.includes('comp=blobs') ? '<Blobs></Blobs>' : undefined)],
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
    const kept = () => readdirSync(join(folder, 'state/tenant', SAMPLE_TENANCY, 'alarm')).sort();
    expect(kept()).toEqual([expect.stringMatching(/^head-.*\.log$/), expect.stringMatching(/^head-.*\.sth$/)]);
    answer = published(fork, 10);
    await monitor();
    // The massif is the same, its seal another one.
    expect(kept()).toHaveLength(3);
  });

  it('says what a log says of itself on one line', async () => {
    answer = published(sampleSealedLog({ leaves: 5, subject: 'x\nALARM of another log\u001b[2J' }), 5);
    const { err, exitCode } = await monitor();
    expect(exitCode).toBe(1);
    const [alarm, ...more] = err.split('\n');
    expect(alarm).toContain('signed by the log "x\\u000aALARM of another log\\u001b[2J"');
    expect(more).toEqual([expect.stringMatching(/^keep /)]);
  });

  it('goes on following a log whose service moved to another address', async () => {
    answer = published(log, 5);
    await monitor();
    answer = published(sampleSealedLog({ leaves: 14, issuer: 'https://moved.example' }), 10);
    const { out, err, exitCode } = await monitor();
    expect([exitCode, err, out.includes('10 leaves in 3 massifs')]).toEqual([0, '', true]);
  });

  it('goes on following the logs that it knows while their list cannot be read', async () => {
    answer = published(log, 5);
    await monitor();
    const unlisted =
      (of: typeof log, leaves: number): Answer =>
      (path) =>
        path.includes('comp=blobs') ? undefined : published(of, leaves)(path);
    answer = unlisted(log, 6);
    const honest = await monitor();
    expect([honest.exitCode, honest.err]).toEqual([2, expect.stringMatching(/ the list of tenancy logs: \S+ .*404/)]);
    expect(honest.out).toContain(`tenant/${SAMPLE_TENANCY}: 6 leaves`);
    answer = unlisted(fork, 7);
    const forked = await monitor();
    expect([forked.exitCode, forked.err]).toEqual([1, expect.stringContaining(`ALARM tenant/${SAMPLE_TENANCY}`)]);
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
  const origin = 'log/0192e8f5-0000-7000-8000-000000000009';
  const log = sampleStatementLog(origin);
  const { key } = log;
  const entry = (number: number, forged = false) => utf8(`${forged ? 'forged' : 'entry'} ${number}`);

  interface Shown extends Lies {
    readonly size: number;
    readonly forgedFrom?: number;
  }
  function published({ size, forgedFrom = Number.POSITIVE_INFINITY, ...lies }: Shown): Answer {
    const entries = Array.from({ length: size }, (_, number) => entry(number, number >= forgedFrom));
    return log.published(entries, lies);
  }

  const monitor = () => look('--vkey', encodeVkey(key));

  it('says what it saw as the log grows over tiles', async () => {
    for (const size of [0, 1, 1, 255, 256, 257, 600]) {
      answer = published({ size });
      const { out, err, exitCode } = await monitor();
      expect(err).toBe('');
      expect(out).toContain(`${origin}: ${counted(size, 'entry', 'entries')}`);
      expect(exitCode).toBe(0);
    }
  });

  it.each<[string, Shown]>([
    ['a fork that grew', { size: 400, forgedFrom: 290 }],
    ['a fork of the same size', { size: 300, forgedFrom: 10 }],
    ['a rollback', { size: 299 }],
    ['entries that are not in the tree', { size: 400, lyingBundle: true }],
    ['the checkpoint of another log', { size: 400, otherOrigin: true }],
    ['a tile with one bit turned', { size: 400, lyingTile: true }],
  ])('ends with an alarm at %s', async (_, shown) => {
    answer = published({ size: 300 });
    expect((await monitor()).exitCode).toBe(0);
    answer = published(shown);
    const { err, exitCode } = await monitor();
    expect([exitCode, err.includes('ALARM')]).toEqual([1, true]);
    answer = published({ size: 301 });
    expect((await monitor()).exitCode).toBe(0);
  });

  it('ends with an alarm when its checkpoint is gone, and says so when its tiles are', async () => {
    answer = published({ size: 300 });
    await monitor();
    answer = (path) => (path.includes('/tile/') ? undefined : published({ size: 301 })(path));
    expect((await monitor()).exitCode).toBe(2);
    answer = () => undefined;
    expect((await monitor()).exitCode).toBe(1);
  });

  it('goes on over a rotated key, with either key while both sign, then with the new one', async () => {
    const rotated = newKeyPair({ type: 'ed25519' });
    const next = { ...key, publicKey: fromBase64(rotated.publicKey.export({ format: 'jwk' }).x!) };
    const signedBy = (size: number, byOld: boolean) => async (path: string) => {
      const body = await published({ size })(path);
      if (typeof body !== 'string') return body;
      const [text, oldLine] = [`${body.split('\n\n')[0]}\n`, body.split('\n\n')[1]!];
      const line = signatureLine(next, new Uint8Array(sign(null, utf8(text), rotated.privateKey)));
      return encodeNote(text, byOld ? [line, oldLine] : [line]);
    };
    answer = published({ size: 3 });
    expect((await monitor()).exitCode).toBe(0);
    answer = signedBy(4, true);
    expect((await monitor()).exitCode).toBe(0);
    const both = () => look('--vkey', encodeVkey(key), '--vkey', encodeVkey(next));
    answer = signedBy(5, true);
    expect((await both()).exitCode).toBe(0);
    answer = signedBy(6, false);
    const { out, exitCode } = await both();
    expect([exitCode, out.match(/6 entries/g)?.length]).toEqual([0, 1]);
    expect((await look('--vkey', encodeVkey(next))).exitCode).toBe(0);
    expect((await monitor()).exitCode).toBe(2);
  });

  it('says that its own memory is damaged, and does not accuse the log', async () => {
    answer = published({ size: 300 });
    await monitor();
    writeFileSync(join(folder, 'state', origin, 'checkpoint'), 'log/x\n');
    const { err, exitCode } = await monitor();
    expect([exitCode, err.includes('the saved state does not verify'), err.includes('ALARM')]).toEqual([
      2,
      true,
      false,
    ]);
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
