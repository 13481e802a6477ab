import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { encodeCbor } from '../../src/core/cose/cbor.js';
import { decodeSign1, encodeSign1 } from '../../src/core/cose/sign1.js';
import { signForkStatement } from '../../src/core/fork/fork-statement.js';
import { encodeForks } from '../../src/core/fork/read-fork-statement.js';
import { baggedRoot } from '../../src/core/mmr/bagged-root.js';
import { sizeOfLeaves } from '../../src/core/mmr/leaf-count.js';
import { peaks } from '../../src/core/mmr/peaks.js';
import { readSeal } from '../../src/core/receipt/seal.js';
import { encodeVkey } from '../../src/core/tlog/signed-note.js';
import { sampleSealedLog } from '../core/verify/sample-sealed-log.js';
import { SAMPLE_TENANCY, sampleSigners } from '../core/verify/sample-transparent-statement.js';
import { commandLine } from '../support/command-line.js';
import { publishedService } from './published-service.js';
import { type Answer, publishedTenancyLog, sampleStatementLog } from './sample-published-logs.js';

const LOG = `tenant/${SAMPLE_TENANCY}`;
const ORIGIN = 'log/0192e8f5-0000-7000-8000-000000000009';
const OTHER = '9f4b1d8a-0000-4000-8000-000000000000';
const log = sampleSealedLog({ leaves: 16 });
const fork = sampleSealedLog({ leaves: 16, event: (leaf) => (leaf < 2 ? {} : { operation: 'Forged' }) });
const statements = sampleStatementLog(ORIGIN);
let service: Awaited<ReturnType<typeof publishedService>>;
let url: string;
let tenancyLog: Answer;
let statementLog: Answer;
let folder: string;

beforeAll(async () => {
  service = await publishedService((path) =>
    (path.startsWith('/verifiabledata/tlog/') ? statementLog : tenancyLog)(path),
  );
  url = service.url;
});
afterAll(() => service.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'monitor-registered-'));
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [sampleSigners.sealer.publicKey] }));
});
afterEach(() => rmSync(folder, { recursive: true }));

const state = (...path: string[]) => join(folder, 'state', ...path);

function monitor(...args: string[]) {
  const keys = ['--log-keys', join(folder, 'keys.json'), '--vkey', encodeVkey(statements.key)];
  return commandLine(['monitor', url, '--once', '--state', state(), ...keys, ...args]);
}

/** The service shows a tenancy log with so many leaves, and a statement log with these entries. */
function show(of: typeof log, leaves: number, entries: readonly Uint8Array[]): void {
  tenancyLog = publishedTenancyLog(of, leaves);
  statementLog = statements.published(entries);
}

const sealsOf = (of: typeof log, ...leaves: number[]) => Promise.all(leaves.map((count) => of.seal(count)));
/** The kept files by their names without the hash of their content. */
const alarms = (): ReadonlyMap<string, Uint8Array> =>
  new Map(
    readdirSync(state(LOG, 'alarm')).map((name) => [
      name.replace(/-.*\./, '.'),
      new Uint8Array(readFileSync(state(LOG, 'alarm', name))),
    ]),
  );

describe('vcon-archivist monitor of seals that are registered in a statement log', () => {
  it('compares each with the nodes of its tenancy log, whichever massif it ends in', async () => {
    const seals = await sealsOf(log, 1, 3, 4, 5, 9);
    show(log, 9, [utf8('a statement'), ...seals]);
    expect(await monitor()).toMatchObject({ err: '', exitCode: 0 });
    const later = await sealsOf(log, 2, 7, 10, 12);
    show(log, 14, [utf8('a statement'), ...seals, ...later]);
    const { out, err, exitCode } = await monitor();
    expect([err, exitCode]).toEqual(['', 0]);
    expect(out).toContain('10 entries, 4 of them read now');
    expect(out).toMatch(/14 leaves in 4 massifs, sealed at \S+; agrees with 4 registered seals$/m);
    // Nothing is compared twice.
    expect((await monitor()).out).not.toContain('registered');
  });

  it('raises an alarm at the first look if the tenancy log contradicts one, and keeps both seals', async () => {
    const seals = await sealsOf(log, 1, 5);
    show(fork, 14, seals);
    const { err, exitCode } = await monitor();
    expect([exitCode, err]).toEqual([1, expect.stringContaining(`ALARM ${LOG}: the seal over 5 leaves`)]);
    expect(err).toContain(`registered as entry 1 of ${ORIGIN} contradicts the log`);
    expect(err).toContain('[consistency_invalid]');
    const kept = alarms();
    expect([...kept.keys()].sort()).toEqual(['head.log', 'head.sth', 'registered.sth']);
    expect(readSeal(kept.get('head.sth')!).state.size).toBe(sizeOfLeaves(14n));
    expect(kept.get('registered.sth')).toEqual(seals[1]);
    // The log that agrees is followed with the same folder.
    show(log, 14, seals);
    expect((await monitor()).exitCode).toBe(0);
  });

  it('raises an alarm also if the state that it contradicts was accepted before, in a massif that is full by now', async () => {
    show(fork, 14, []);
    expect((await monitor()).exitCode).toBe(0);
    show(fork, 14, await sealsOf(log, 3));
    const { err, exitCode } = await monitor();
    expect([exitCode, err]).toEqual([1, expect.stringContaining('the seal over 3 leaves')]);
    expect((await monitor()).exitCode).toBe(1);
  });

  it('keeps one that is larger than the tenancy log, and compares it when the log has reached it', async () => {
    const seals = await sealsOf(log, 1, 9);
    for (const [shown, later] of [
      [log, { exitCode: 0, out: expect.stringContaining('agrees with 1 registered seal') }],
      [fork, { exitCode: 1, err: expect.stringContaining('[consistency_invalid]') }],
    ] as const) {
      show(shown, 7, seals);
      const ahead = await monitor();
      expect([ahead.exitCode, ahead.err]).toEqual([2, expect.stringContaining('it has not reached the seal over 9')]);
      show(shown, 10, seals);
      expect(await monitor()).toMatchObject(later);
      rmSync(state(), { recursive: true });
    }
  });

  it('raises an alarm if the tenancy log does not reach one within ten minutes, however many follow', async () => {
    const seals = await sealsOf(log, 9, 10);
    show(log, 7, seals.slice(0, 1));
    expect((await monitor()).exitCode).toBe(2);
    const before = new Date(Date.now() - 660_000);
    utimesSync(state(LOG, 'awaited.sth'), before, before);
    show(log, 8, seals);
    const { err, exitCode } = await monitor();
    expect([exitCode, err]).toEqual([1, expect.stringContaining('it has not reached the seal over 9 leaves')]);
    expect([...alarms().keys()]).toContain('registered.sth');
    show(log, 10, seals);
    expect((await monitor()).exitCode).toBe(0);
  });

  it('follows a log that only a registered seal names, unless other tenancies were asked for', async () => {
    const hidden = sampleSealedLog({ leaves: 3, tenancy: OTHER });
    show(log, 5, [await hidden.seal()]);
    expect((await monitor('--tenancy', SAMPLE_TENANCY)).out).not.toContain(OTHER);
    rmSync(state(), { recursive: true });
    await monitor();
    tenancyLog = (path) => (path.includes(OTHER) ? undefined : publishedTenancyLog(log, 5)(path));
    expect((await monitor()).err).toContain(`tenant/${OTHER}: it has not reached the seal over 3 leaves`);
  });

  it('takes no entry for a seal that somebody else could have registered', async () => {
    // Registered statements stand in a log without their unprotected headers.
    const [seal] = await sealsOf(fork, 5);
    const stripped = encodeSign1({ ...decodeSign1(seal!), unprotectedHeader: new Map() });
    show(log, 9, [stripped]);
    const { out, err, exitCode } = await monitor();
    expect([err, exitCode, out.includes('registered')]).toEqual(['', 0, false]);
  });

  it('says which it cannot compare, because their keys were not given', async () => {
    const stranger = sampleSealedLog({ leaves: 5, signer: sampleSigners.stranger });
    show(log, 9, await sealsOf(stranger, 5));
    const { out, exitCode } = await monitor();
    expect([exitCode, out]).toEqual([0, expect.stringContaining('1 registered seal by keys that were not given')]);
  });

  it('reads a long log over several rounds', async () => {
    const large = Array.from({ length: 1_300 }, () => new Uint8Array(65_000));
    show(fork, 9, [...large, ...(await sealsOf(log, 5))]);
    const first = await monitor();
    expect([first.exitCode, first.err]).toEqual([0, '']);
    expect(first.out).toContain('1301 entries, 1280 of them read now; the next round reads on at entry 1280');
    const second = await monitor();
    expect([second.exitCode, second.err]).toEqual([1, expect.stringContaining('registered as entry 1300')]);
  }, 60_000);

  it('says that entries are withheld which were published before', async () => {
    const entries = await sealsOf(log, 5);
    show(log, 9, entries);
    await monitor();
    const shown = statements.published([...entries, utf8('another')]);
    statementLog = (path) => (path.includes('/entries/') ? undefined : shown(path));
    const { err, exitCode } = await monitor();
    expect([exitCode, err]).toEqual([2, expect.stringContaining('does not exist')]);
  });

  it('says that what it keeps of them is damaged, and does not accuse the log', async () => {
    show(log, 9, []);
    await monitor();
    for (const damaged of ['damaged', encodeCbor([[ORIGIN, 0, utf8('no seal')]])]) {
      writeFileSync(state(LOG, 'registered.cbor'), damaged);
      const { err, exitCode } = await monitor();
      expect([exitCode, err.includes('registered.cbor is damaged'), err.includes('ALARM')]).toEqual([2, true, false]);
    }
  });

  it('compares over an open fork what it kept, not what it lost, and no more than it says', async () => {
    const root = baggedRoot(peaks(sizeOfLeaves(5n)).map((index) => log.nodes[Number(index)]!));
    const last = { log: LOG, number: 9n, leaves: 9n, seal: await log.seal(9) };
    const sealed = { log: `${LOG}.1`, continues: LOG, sealNumber: 5n, leaves: 5n, root, last };
    const statement = await signForkStatement(
      { ...sealed, reason: 'the disk was lost', forkedAtMs: 1737045860000 },
      sampleSigners.sealer,
      'https://archive.example',
    );
    const event = (leaf: number) => (leaf < 5 ? {} : { operation: 'Later' });
    const forked = sampleSealedLog({ leaves: 12, subject: `${LOG}.1`, event });
    const served = publishedTenancyLog(forked, 12);
    tenancyLog = (path) => (path.endsWith('/forks') ? encodeForks([statement]) : served(path));
    const look = async (...seals: Uint8Array[]) => {
      rmSync(state(), { recursive: true, force: true });
      statementLog = statements.published(seals);
      return monitor();
    };
    const kept = await look(...(await sealsOf(log, 3, 5, 8, 9)), await forked.seal(11));
    expect([kept.exitCode, kept.out]).toEqual([0, expect.stringContaining('agrees with 3 registered seals')]);
    expect((await look(await log.seal(10))).err).toContain('[consistency_invalid]');
    expect((await look(await fork.seal(4))).err).toContain('[consistency_invalid]');
  });
});
