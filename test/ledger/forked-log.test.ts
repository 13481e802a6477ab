import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedState } from '../../src/ledger/checkpoint-note.js';
import { findSuspectLogs } from '../../src/ledger/halted/find-suspect-logs.js';
import type { LogRef, LogStructure } from '../../src/ledger/log.js';
import { forkObjectKey } from '../../src/ledger/seal-object.js';
import { tileBytes } from '../../src/ledger/tile-view.js';
import { engines } from '../support/engines.js';
import { FORK_ENTRY, faultsOf, fork, stateOf } from './forked-log.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';
import { createTestKeyring } from './test-keyring.js';

const SHARED = 3;
const LOGS: readonly (readonly [LogStructure, 'asset_event' | 'statement'])[] = [
  ['MMR_SHA256', 'asset_event'],
  ['RFC9162_SHA256', 'statement'],
];
const BEGINS = 'the statement that begins generation 1';
const later = (log: LogRef) => forkObjectKey(log.logId, 2);

let opened: Opened;
beforeAll(async () => {
  opened = await openEngine(engines().at(-1)!);
});
afterAll(() => opened.close());

describe.each(LOGS)('a log of %s that was forked openly', (structure, kind) => {
  async function beforeFork(): Promise<{ rig: LedgerRig; log: LogRef }> {
    const rig = opened.rig();
    const log = await rig.newLog(structure);
    await rig.accept(log, kind, SHARED);
    await rig.drain(log);
    return { rig, log };
  }

  async function forked(signer?: Parameters<typeof fork>[3]) {
    const { rig, log } = await beforeFork();
    await fork(opened, rig, log, signer);
    await rig.accept(log, kind, 2);
    await rig.drain(log);
    return { rig, log };
  }

  const changeFork = (log: LogRef, member: string, value: string) =>
    opened.asOwner(`UPDATE archivist.log SET forks = jsonb_set(forks, '{0,${member}}', $2) WHERE log_id = $1`, [
      log.logId,
      JSON.stringify(value),
    ]);

  it('is audited without a fault, and each change of its statement, or of its place in the log, is found', async () => {
    const { rig, log } = await forked();
    expect(await faultsOf(rig, log)).toEqual([]);
    const key = forkObjectKey(log.logId, 1);
    const kept = (await rig.objectStore.get(key))!;
    const finds = async (fault: string) => expect(await faultsOf(rig, log)).toContain(fault);
    await rig.objectStore.remove(key);
    await finds(`${BEGINS} differs from the one in the object store, or is missing`);
    await rig.objectStore.put(key, kept.with(kept.length - 1, kept.at(-1)! ^ 1));
    await finds(`${BEGINS} differs from the one in the object store, or is missing`);
    await rig.objectStore.put(key, kept);
    await changeFork(log, 'leaves', String(SHARED - 1));
    await finds(`${BEGINS} is not its first leaf`);
    await changeFork(log, 'leaves', String(SHARED + 9));
    expect(await faultsOf(rig, log)).toContain(`${BEGINS} contradicts the log`);
    await changeFork(log, 'leaves', String(SHARED));
    await rig.objectStore.put(later(log), kept);
    await finds('the object store has generation 2: the database is older than what was published');
    await rig.objectStore.remove(later(log));
    expect(await faultsOf(rig, log)).toEqual([]);
  });

  it('is audited with a fault where another key than the log’s signed the statement', async () => {
    const { rig, log } = await forked(createTestKeyring().signer('seal'));
    expect(await faultsOf(rig, log)).toEqual([
      expect.stringMatching(`${BEGINS}: .*not signed by any of the given keys`),
    ]);
  });

  it('signs nothing before its statement is there to be the first leaf', async () => {
    const { rig, log } = await beforeFork();
    await fork(opened, rig, log);
    await opened.asOwner('DELETE FROM archivist.intake WHERE entry_id = $1', [FORK_ENTRY]);
    const { sealNumber, leaves } = await stateOf(rig, log);
    await rig.accept(log, kind, 1);
    await rig.drain(log);
    expect(await stateOf(rig, log)).toMatchObject({
      halted: 'the statement that begins this generation of the log is not there',
      sealNumber,
      leaves,
    });
  });

  it('is not read while its list of forks is damaged, and the error names the log and says what to do', async () => {
    const { rig, log } = await forked();
    const set = (forks: unknown) =>
      opened.asOwner('UPDATE archivist.log SET forks = $2 WHERE log_id = $1', [log.logId, JSON.stringify(forks)]);
    const whole = { generation: 1, seal_number: '1', leaves: '3', entry_id: FORK_ENTRY };
    const damaged = [
      null,
      { 0: whole },
      ['1'],
      [null],
      ...Object.keys(whole).map((member) => [{ ...whole, [member]: undefined }]),
      [{ ...whole, leaves: '-1' }],
      [{ ...whole, seal_number: 1.5 }],
    ];
    const words = `the list of forks of log ${log.logId} (column forks of archivist.log) is damaged: restore another copy of the database`;
    for (const forks of damaged) {
      await set(forks);
      await expect(faultsOf(rig, log)).rejects.toThrow(words);
    }
    await set([whole]);
    expect(await faultsOf(rig, log)).toEqual([]);
  });

  it('is suspected once the object store has a later generation of it, and not before', async () => {
    const { rig, log } = await forked();
    const suspects = async () => (await findSuspectLogs(rig, [log])).map(({ logId }) => logId);
    expect(await suspects()).toEqual([]);
    await rig.objectStore.putNew(later(log), Uint8Array.of(1));
    expect(await suspects()).toEqual([log.logId]);
  });
});

describe('the generation of a statement log that ended', () => {
  it('is served up to where it ended: its checkpoint and its tiles, and no more', async () => {
    const rig = opened.rig();
    const log = await rig.newLog('RFC9162_SHA256');
    await rig.accept(log, 'statement', SHARED);
    await rig.drain(log);
    const read = <Result>(look: (tx: Parameters<typeof tileBytes>[0]) => Promise<Result>) =>
      rig.database.inTransaction('system', look);
    const before = await read((tx) => publishedState(tx, log));
    const tile = (width: number, generation?: number) =>
      read((tx) => tileBytes(tx, log, 0, { index: 0n, width }, generation));
    const hashes = await tile(SHARED);
    await fork(opened, rig, log);
    await rig.drain(log);
    expect(await read((tx) => publishedState(tx, log, 0))).toEqual(before);
    expect(await tile(SHARED, 0)).toEqual(hashes);
    expect(await tile(SHARED + 1)).toHaveLength(32 * (SHARED + 1));
    expect(await tile(SHARED + 1, 0)).toBeUndefined();
    // The newest one has no end yet, and there is no later one.
    for (const generation of [1, 2]) {
      expect(await tile(1, generation)).toBeUndefined();
      expect(await read((tx) => publishedState(tx, log, generation))).toBeUndefined();
    }
    const other = await rig.newLog('MMR_SHA256');
    expect(await read((tx) => publishedState(tx, other))).toBeUndefined();
  });
});
