import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeCheckpoint } from '../../src/core/tlog/checkpoint.js';
import { decodeNote, encodeVkey } from '../../src/core/tlog/signed-note.js';
import { checkpointNote } from '../../src/ledger/checkpoint-note.js';
import { startTestService, type TestService } from '../api/test-service.js';
import { startTestWitness, type TestWitness } from '../api/test-witness.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { commandLine } from '../support/command-line.js';
import { type Answer, publishedTenancyLog, sampleStatementLog } from './sample-published-logs.js';
import { recordWitnessedEvent } from './witnessed-event.js';

const LONG = 120_000;
const TLOG = '/verifiabledata/tlog/';
let witnesses: TestWitness[];
/** A witness that the service does not ask. */
let stranger: TestWitness;
let running: TestService;
let publicLog: string;
let keysLog: string;
let tenancy: string;
let folder: string;
let between: Server;
let url: string;
/** What the server between shows instead of the service's files, to this reader only. */
let instead: Answer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'monitor-cosigned-'));
  witnesses = await Promise.all(['w1.example', 'w2.example'].map(startTestWitness));
  stranger = await startTestWitness('w3.example');
  running = await startTestService({
    WITNESSES: witnesses.map(({ address }) => address).join(', '),
    WITNESS_SECONDS: '1',
  });
  const { json } = await running.anonymous.get('/verifiabledata/tlog');
  const logs = json['logs'] as { kind: string; origin: string; vkey: string }[];
  const [ofAll, ofKeys] = ['public', 'keys'].map((of) => logs.find(({ kind }) => kind === of)!);
  [publicLog, keysLog] = [ofAll!.origin, ofKeys!.origin];
  for (const { knownLogs } of witnesses) knownLogs.push(ofAll!.vkey, ofKeys!.vkey);
  between = createServer(async (request, response) => {
    const shown = await instead?.(request.url!);
    if (shown !== undefined) return void response.end(shown);
    const answer = await running.anonymous.get(request.url!);
    response.writeHead(answer.status).end(answer.bytes);
  });
  await new Promise<void>((listening) => between.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
}, LONG);
afterEach(() => {
  instead = undefined;
});
afterAll(async () => {
  await new Promise((closed) => between?.close(closed));
  await running?.close();
  await Promise.all([...(witnesses ?? []), stranger].map((each) => each?.close()));
  await rm(folder, { recursive: true, force: true });
});

const state = (name: string, ...path: string[]) => join(folder, name, ...path);
const unnamed = (name: string, ...args: string[]) =>
  commandLine(['monitor', url, '--once', '--root', running.service.rootFingerprint, '--state', state(name), ...args]);
const naming = (name: string, by: readonly TestWitness[], ...args: string[]) =>
  unnamed(name, ...by.flatMap(({ key }) => ['--witness', encodeVkey(key)]), ...args);
const monitor = (name: string) => naming(name, witnesses);

async function elevenMinutesAgo(name: string, ...path: string[]): Promise<void> {
  const before = new Date(Date.now() - 660_000);
  await utimes(state(name, ...path), before, before);
}

const shownCheckpoint = async () =>
  new TextDecoder().decode((await running.anonymous.get(`${TLOG}${publicLog.replace('log/', '')}/checkpoint`)).bytes);

/**
 * A second public log with a second tenancy log, whose seals are registered in it. The service has signed all of it.
 * @param lines added to the checkpoint
 */
async function secondSet(lines = ''): Promise<Answer> {
  const { keyring } = running.service.parts;
  const leaves = 16;
  const log = sampleSealedLog({ leaves, tenancy, signer: keyring.signer('seal'), issuer: url });
  const seals = await Promise.all([7, 12, leaves].map((count) => log.seal(count)));
  const shown = { tenancy: publishedTenancyLog(log, leaves), tree: sampleStatementLog(publicLog).published(seals) };
  const { root } = decodeCheckpoint(decodeNote(String(await shown.tree('/checkpoint'))).text);
  const note = await checkpointNote({ origin: publicLog, size: BigInt(seals.length), root }, [keyring.signer('note')]);
  return (path) => {
    if (path.includes(`/mmrs/tenant/${tenancy}/`)) return shown.tenancy(path);
    if (!path.startsWith(`${TLOG}${publicLog.replace('log/', '')}/`)) return undefined;
    return path.endsWith('/checkpoint') ? note + lines : shown.tree(path);
  };
}

describe('monitor --witness', { timeout: LONG }, () => {
  it('says who has cosigned the keys log, and takes an empty public log without cosignatures', async () => {
    // The first key manifest is shown before it is in the keys log, and that log is then as empty as the public one.
    await vi.waitFor(async () => {
      const { out, err, exitCode } = await monitor('begun');
      expect([err, exitCode]).toEqual(['', 0]);
      expect(out).toMatch(new RegExp(`${keysLog}: .*; cosigned by w1.example, w2.example$`, 'm'));
      expect(out).toMatch(new RegExp(`${publicLog}: 0 entries, 0 of them read now$`, 'm'));
    }, LONG);
  });

  it('says who has cosigned the public log, and nothing of witnesses without the option', async () => {
    tenancy = await recordWitnessedEvent(running);
    const { out, err, exitCode } = await monitor('begun');
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toMatch(new RegExp(`${publicLog}: .*; cosigned by w1.example, w2.example$`, 'm'));
    expect((await unnamed('begun')).out).not.toContain('cosigned');
  });

  it('raises an alarm if fewer witnesses than required have cosigned for ten minutes', async () => {
    const three = [...witnesses, stranger];
    const enough = await naming('stranger', three, '--witness-quorum', '2');
    expect([enough.err, enough.exitCode]).toEqual(['', 0]);
    expect(enough.out).toContain('cosigned by w1.example, w2.example, not by w3.example');
    const first = await naming('stranger', three);
    expect([first.exitCode, first.err]).toEqual([2, expect.stringContaining('not by w3.example: 3 of the named')]);
    expect(first.err).not.toContain('ALARM');
    await elevenMinutesAgo('stranger', publicLog, 'cosigned');
    const { err, exitCode } = await naming('stranger', three);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(`ALARM ${publicLog}: .*witness_quorum_missing`)]);
    expect((await monitor('stranger')).exitCode).toBe(0);
  });

  it('raises an alarm at a complete second set of logs, which is no alarm without the option', async () => {
    instead = await secondSet();
    const unaware = await unnamed('unaware');
    expect([unaware.err, unaware.exitCode]).toEqual(['', 0]);
    expect(unaware.out).toContain('agrees with 3 registered seals');
    const first = await monitor('second');
    expect([first.exitCode, first.err]).toEqual([2, expect.stringContaining('not cosigned by w1.example, w2.example')]);
    await elevenMinutesAgo('second', publicLog, 'cosigned');
    const { err, exitCode } = await monitor('second');
    expect([exitCode, err]).toEqual([1, expect.stringContaining('[witness_quorum_missing]')]);
  });

  it('raises an alarm at once if cosignatures of the true log stand under the second one', async () => {
    const lines = (await shownCheckpoint()).split('\n').filter((line) => line.startsWith('— w'));
    expect(lines).toHaveLength(2);
    instead = await secondSet(`${lines.join('\n')}\n`);
    const { err, exitCode } = await monitor('pasted');
    expect([exitCode, err]).toEqual([1, expect.stringContaining('the cosignature of w1.example does not match')]);
    expect((await unnamed('pasted-unaware')).exitCode).toBe(0);
  });

  it('raises the alarm of a split view if the cosigned checkpoint is not of the tree that was shown, and keeps both', async () => {
    // Long enough that the second one is not only older.
    while (decodeCheckpoint(decodeNote(await shownCheckpoint()).text).size < 4n)
      tenancy = await recordWitnessedEvent(running);
    instead = await secondSet();
    expect((await monitor('split')).exitCode).toBe(2);
    const second = await instead(`${TLOG}${publicLog.replace('log/', '')}/checkpoint`);
    instead = undefined;
    const { err, exitCode } = await monitor('split');
    expect([exitCode, err]).toEqual([1, expect.stringContaining(`ALARM ${publicLog}: a split view: the tiles do not`)]);
    expect(err).toContain('this checkpoint is cosigned by w1.example, w2.example;');
    expect(err).toContain('the one that was seen before is not cosigned by w1.example, w2.example');
    expect(await readFile(state('split', publicLog, 'checkpoint'), 'utf8')).toBe(second);
    const [alarm] = await readdir(state('split', publicLog, 'alarm'));
    expect(await readFile(state('split', publicLog, 'alarm', alarm!), 'utf8')).toBe(await shownCheckpoint());
  });

  it('says so too if the cosigned checkpoint came first', async () => {
    expect((await monitor('cosigned-first')).exitCode).toBe(0);
    instead = await secondSet();
    const { err, exitCode } = await monitor('cosigned-first');
    expect([exitCode, err]).toEqual([1, expect.stringContaining(`ALARM ${publicLog}: a split view: `)]);
  });

  it('raises an alarm if the cosigned checkpoint stays behind a tenancy log for ten minutes', async () => {
    const old = await shownCheckpoint();
    tenancy = await recordWitnessedEvent(running);
    instead = (path) => (path === `${TLOG}${publicLog.replace('log/', '')}/checkpoint` ? old : undefined);
    expect(await monitor('frozen')).toMatchObject({ err: '', exitCode: 0 });
    await elevenMinutesAgo('frozen', 'tenant', tenancy, 'covered');
    expect((await unnamed('frozen')).exitCode).toBe(0);
    const { err, exitCode } = await monitor('frozen');
    expect([exitCode, err]).toEqual([
      1,
      expect.stringMatching(`ALARM tenant/${tenancy}: no seal over its \\d+ leaves`),
    ]);
    expect(err).toContain('the cosigned checkpoint is too old');
    instead = undefined;
    expect(await monitor('frozen')).toMatchObject({ err: '', exitCode: 0 });
  });

  it('needs no newer cosignature for a log in which nothing happens, also with the folder of an earlier version', async () => {
    for (let looks = 0; looks < 2; looks += 1) {
      expect(await monitor('idle')).toMatchObject({ err: '', exitCode: 0 });
      await elevenMinutesAgo('idle', 'tenant', tenancy, 'covered');
      expect(await monitor('idle')).toMatchObject({ err: '', exitCode: 0 });
      // An earlier version did not remember what it had compared.
      await rm(state('idle', 'tenant', tenancy, 'covered'));
    }
  });

  it('exits 2 without --root, and at a key that is not of a witness', async () => {
    const key = encodeVkey(stranger.key);
    const without = await commandLine(['monitor', url, '--state', state('x'), '--vkey', key, '--witness', key]);
    expect([without.exitCode, without.err]).toEqual([2, expect.stringContaining('--witness needs --root')]);
    const ofLog = await unnamed('x', '--witness', witnesses[0]!.knownLogs[0]!);
    expect([ofLog.exitCode, ofLog.err]).toEqual([2, expect.stringContaining('belongs to a log, not to a witness')]);
  });
});
