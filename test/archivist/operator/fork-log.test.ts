import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { forkLog } from '../../../src/archivist/operator/fork-log.js';
import { encodeCbor } from '../../../src/core/cose/cbor.js';
import { decodeForks } from '../../../src/core/fork/read-fork-statement.js';
import { findLogById } from '../../../src/ledger/halted/halted-log-store.js';
import { watchHaltedLogs } from '../../../src/ledger/halted/watch-halted-logs.js';
import type { LogState } from '../../../src/ledger/log.js';
import { forkObjectKey, sealObjectKey } from '../../../src/ledger/seal-object.js';
import { fileObjectStore } from '../../../src/platform/file-object-store.js';
import { createLogger } from '../../../src/platform/logger.js';
import type { ObjectStore } from '../../../src/platform/object-store.js';
import { type Client, clientWith, startTestService, type TestService } from '../../api/test-service.js';
import { commandLine } from '../../support/command-line.js';

const PATIENCE = { timeout: 40_000, interval: 50 };
const LOGS = '/archivist/operator/v1/logs';
const REASON = 'restored from an older copy';
const OLDER = 'the object store has a later seal: the database is older than what was published';

let running: TestService;
let folder: string;
let operator: Client;
let objects: ObjectStore;
/** The log of the first tenancy: halted, and one seal behind the object store. */
let log: LogState;

const stateOf = async (logId: string): Promise<LogState> =>
  (await running.service.parts.database.inTransaction('system', (tx) => findLogById(tx, logId)))!;

/** Changes the row of a log as the superuser. */
const set = (logId: string, change: string) =>
  running.asOwner(`UPDATE archivist.log SET ${change} WHERE log_id = '${logId}'`);

const fork = (logId: string, over: Record<string, string> = {}) =>
  operator.post(`${LOGS}/${logId}:fork`, { confirm: log.name, reason: REASON, ...over });

/** Until the service knows whether the log is halted. */
const known = (logId: string, halted: boolean) =>
  vi.waitFor(async () => {
    const { json } = await running.anonymous.get('/readyz');
    const listed = (json['halted_logs'] as { log: string }[]).map(({ log: id }) => id);
    expect(listed.includes(logId)).toBe(halted);
  }, PATIENCE);

const logs = (...args: string[]) => commandLine(['logs', ...args], { KEYS_DIR: folder, PUBLIC_URL: running.url });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fork-log-'));
  running = await startTestService({ ANCHOR_SCHEDULE: '0 0 1 1 *', KEYS_DIR: folder });
  operator = clientWith(running.url, (await readFile(join(folder, 'operator-token'), 'utf8')).trim());
  const objectsDir = join(running.environment.DATA_DIR, 'objects');
  objects = fileObjectStore(objectsDir);
  const asset = await running.owner.post('/archivist/v2/assets', { attributes: {} });
  const logId = (await running.owner.get('/archivist/v1/tenancies/self')).json['identity'] as string;
  const path = `/archivist/v2/${asset.json['identity']}/events`;
  await running.owner.post(path, { operation: 'Record', behaviour: 'RecordEvidence', event_attributes: {} });
  log = await vi.waitFor(async () => {
    const state = await stateOf(logId.slice(logId.indexOf('/') + 1));
    expect([state.leaves > 1n, state.size]).toEqual([true, state.publishedSize]);
    return state;
  }, PATIENCE);
});
afterAll(async () => {
  await running?.close();
  await rm(folder, { recursive: true });
});

/** The parts of the running service, on another object store. */
async function forkDeps(objectStore: ObjectStore) {
  const { database, deployment, keyring, clock, ids, keys } = running.service.parts;
  const logger = createLogger('silent');
  const halted = await watchHaltedLogs({ database, logger });
  await halted.close();
  const receiptIssuer = 'https://archivist.example';
  return { database, deployment, keyring, clock, ids, keys, objectStore, logger, halted, receiptIssuer, nudge() {} };
}

describe('a halted log is not forked', () => {
  const later = () => sealObjectKey(log, log.sealNumber + 1n);
  beforeAll(async () => {
    await set(log.logId, `halted = '${OLDER}'`);
    await objects.put(later(), (await objects.get(sealObjectKey(log, log.sealNumber)))!);
  });

  /** Nothing of a fork is in the database: the log waits for the next attempt. */
  async function expectStillHalted(): Promise<void> {
    expect(await stateOf(log.logId)).toMatchObject({ halted: expect.any(String), forks: [], name: log.name });
  }

  it.each([
    [
      'another name than the log has',
      { confirm: 'log/another' },
      /^confirm: type the name of the log, which is tenant/,
    ],
    ['a reason of blanks', { reason: ' \n ' }, /^reason: say in 1 to \d+ characters why the newer database is lost/],
  ])('with %s', async (_, over, says) => {
    const { status, json } = await fork(log.logId, over);
    expect([status, json['description']]).toEqual([400, expect.stringMatching(says)]);
    await expectStillHalted();
  });

  /** Damage from outside, and its repair. */
  type Damage = () => Promise<() => Promise<unknown>>;
  const row =
    (change: string, repaired: string): Damage =>
    async () => {
      await set(log.logId, change);
      return () => set(log.logId, repaired);
    };
  const object =
    (key: () => string, bytes: Uint8Array | undefined): Damage =>
    async () => {
      const before = (await objects.get(key()))!;
      await (bytes ? objects.put(key(), bytes) : objects.remove(key()));
      return () => objects.put(key(), before);
    };
  const last = () => sealObjectKey(log, log.sealNumber);
  const sealRow: Damage = async () => {
    const { sealNumber, logId } = log;
    const turn = () =>
      running.asOwner(
        `UPDATE archivist.seal SET signed = set_byte(signed, 40, get_byte(signed, 40) # 1)
          WHERE log_id = '${logId}' AND seal_number = ${sealNumber}`,
      );
    await turn();
    return turn;
  };
  const DIFFERENT = /^The object store has another last seal than the database: .*different histories/;

  it.each<[string, Damage, RegExp]>([
    ['whose later seal is gone again', object(later, undefined), /^The database is not older than what was published/],
    ['whose later seal cannot be read', object(later, Uint8Array.of(1)), /^Seal 3 in the object store cannot be read/],
    [
      'that has entries which no seal covers: they would be signed into the new log unseen',
      row('size = size + 1', 'size = size - 1'),
      /^This database holds entries of the log without a seal/,
    ],
    ['whose last seal is another one in the object store', object(last, Uint8Array.of(1)), DIFFERENT],
    ['whose last seal is another one in the database', sealRow, DIFFERENT],
    ['whose last seal was published and is not in the object store', object(last, undefined), DIFFERENT],
  ])('%s', async (_, damage, says) => {
    const repair = await damage();
    const { status, json } = await fork(log.logId);
    await expectStillHalted();
    await repair();
    expect([status, json['description']]).toEqual([409, expect.stringMatching(says)]);
  });

  it('while the keys log is halted, which is never forked itself: the newest keys are not known', async () => {
    const { keysLog } = running.service.parts.deployment;
    const { name } = await stateOf(keysLog);
    await set(keysLog, `halted = '${OLDER}'`);
    await known(keysLog, true);
    const answers = [await fork(log.logId), await fork(keysLog, { confirm: name })];
    await set(keysLog, 'halted = NULL');
    await known(keysLog, false);
    for (const { status, json } of answers)
      expect([status, json['description']]).toEqual([
        409,
        expect.stringMatching(/^The keys log is halted: .*Run "vcon-archivist logs resume" for/),
      ]);
    await expectStillHalted();
    expect((await stateOf(keysLog)).forks).toEqual([]);
  });

  it('by a second operator who began at the same time: the statement that came first stays', async () => {
    const key = forkObjectKey(log.logId, 1);
    const first = Uint8Array.of(7);
    const deps = await forkDeps({
      ...objects,
      async putNew(wanted, bytes) {
        await objects.putNew(key, first);
        return objects.putNew(wanted, bytes);
      },
    });
    await expect(forkLog(deps, log.logId, { confirm: log.name, reason: REASON })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another fork of this log has begun'),
    });
    expect(await objects.get(key)).toEqual(first);
    await expectStillHalted();
    await objects.remove(key);
  });

  it('when its row has changed since the request began: nothing of the fork is in the database', async () => {
    const key = forkObjectKey(log.logId, 1);
    const deps = await forkDeps({
      ...objects,
      async putNew(wanted, bytes) {
        await set(log.logId, `halted = 'another reason'`);
        return objects.putNew(wanted, bytes);
      },
    });
    await expect(forkLog(deps, log.logId, { confirm: log.name, reason: REASON })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('The log has changed since the request began'),
    });
    await expectStillHalted();
    const waiting = await running.service.parts.database.inTransaction('system', (tx) =>
      tx.query('SELECT FROM archivist.intake WHERE log_id = $1', [log.logId]),
    );
    expect(waiting).toEqual([]);
    await objects.remove(key);
    await set(log.logId, `halted = '${OLDER}'`);
  });

  it('with --all while another log is halted for another reason, which it names', async () => {
    const { publicTenancy } = running.service.parts.deployment;
    await set(publicTenancy, `halted = 'stored node 3 does not hash up'`);
    const { exitCode, err } = await logs('fork', '--all', '--reason', REASON, '--confirm', 'fork 2 logs');
    await set(publicTenancy, 'halted = NULL');
    expect([exitCode, err]).toEqual([
      2,
      expect.stringMatching(new RegExp(`^error: tenant/${publicTenancy}: halted for another reason, which must be`)),
    ]);
    await expectStillHalted();
  });

  it.each([
    [[], 'give one log, or "chain", or --all'],
    [['chain', '--all'], 'give one log, or "chain", or --all'],
    [['chain'], 'the chain is not behind the object store: there is nothing to fork'],
  ])('by a command line that names %j', async (args, says) => {
    const { exitCode, err } = await logs('fork', ...args, '--reason', REASON, '--confirm', 'chain');
    expect([exitCode, err]).toEqual([2, expect.stringContaining(says)]);
    await expectStillHalted();
  });

  it('but is when none of these faults is left; --all then finds nothing more to fork', async () => {
    const { status, json } = await fork(log.logId);
    expect([status, json['name']]).toEqual([200, `${log.name}.1`]);
    const { exitCode, err } = await logs('fork', '--all', '--reason', REASON, '--confirm', 'fork 1 log');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('nothing is halted: there is nothing to fork')]);
  });
});

describe('a log of which the object store has the first seals and the database none', () => {
  it('is forked from its beginning: the statement is its first entry', async () => {
    const { privateStatementLog: logId } = running.service.parts.deployment;
    const before = await stateOf(logId);
    expect([before.leaves, before.sealNumber]).toEqual([0n, 0n]);
    await objects.putNew(sealObjectKey(before, 1n), encodeCbor([4n, Uint8Array.of(1)]));
    await set(logId, `halted = '${OLDER}'`);
    const { status, json } = await fork(logId, { confirm: before.name });
    expect([status, json['name']]).toEqual([200, `${before.name}.1`]);
    const { bytes } = await vi.waitFor(async () => {
      expect(await stateOf(logId)).toMatchObject({ leaves: 1n, publishedNumber: 1n });
      return running.anonymous.get(`/verifiabledata/tlog/${logId}/forks`);
    }, PATIENCE);
    expect(decodeForks(bytes)).toMatchObject([{ leaves: 0n, sealNumber: 0n, last: { number: 1n, leaves: 4n } }]);
  });
});

describe('a log that was halted because of the object store', () => {
  it('is not resumed while the object is still missing, and is when it is back', async () => {
    const state = await stateOf(running.service.parts.deployment.privateStatementLog);
    const key = sealObjectKey(state, state.publishedNumber);
    const object = (await objects.get(key))!;
    await objects.remove(key);
    await set(state.logId, `halted = 'published seal ${state.publishedNumber} is not in the object store'`);
    const resume = () => operator.post(`${LOGS}/${state.logId}:resume`, '');
    const refused = await resume();
    expect([refused.status, refused.json['description']]).toEqual([
      409,
      expect.stringMatching(/^The database and the object store still disagree about this log/),
    ]);
    expect((await stateOf(state.logId)).halted).toMatch('is not in the object store');
    await objects.put(key, object);
    expect((await resume()).json).toMatchObject({ halted: '', finding: 'consistent' });
  });

  it.each([
    ['', undefined],
    [':resume', ''],
    [':fork', { confirm: 'log', reason: REASON }],
  ])('is answered with 404 if no log has the id: logs/<uuid>%s', async (verb, body) => {
    const path = `${LOGS}/00000000-0000-4000-8000-000000000000${verb}`;
    const { status, json } = body === undefined ? await operator.get(path) : await operator.post(path, body);
    expect([status, json['description']]).toEqual([404, 'There is no such log.']);
  });
});
