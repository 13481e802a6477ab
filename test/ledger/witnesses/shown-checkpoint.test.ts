import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeCheckpoint, encodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { decodeNote, encodeNote, NoteKeyType, signatureLine } from '../../../src/core/tlog/signed-note.js';
import type { LogRef } from '../../../src/ledger/log.js';
import { settleCheckpoint, shownCheckpoint } from '../../../src/ledger/witnesses/shown-checkpoint.js';
import { insertCosigned } from '../../../src/ledger/witnesses/witness-store.js';
import { engines } from '../../support/engines.js';
import { type Opened, openEngine } from '../test-engines.js';

const key = { name: 'log/a', type: NoteKeyType.ed25519, publicKey: new Uint8Array(32) };

function note(size: bigint): string {
  return encodeNote(encodeCheckpoint({ origin: 'log/a', size, root: new Uint8Array(32) }), [
    signatureLine(key, new Uint8Array(64)),
  ]);
}

describe.each(engines())('the checkpoint of a witnessed log on %s', (engine) => {
  let opened: Opened;
  let log: LogRef;
  beforeAll(async () => {
    opened = await openEngine(engine);
    log = await opened.rig().newLog('RFC9162_SHA256');
  });
  afterAll(() => opened.close());

  const start = (witnessed: boolean, published: bigint) =>
    settleCheckpoint(opened.database, log, { witnessed, plain: async () => note(published) });
  const cosign = (size: bigint) =>
    opened.database.inTransaction('system', (tx) => insertCosigned(tx, log, size, note(size)));
  const shown = async () => {
    const text = await shownCheckpoint(opened.database, log, async ({ size }) => note(size));
    return text === undefined ? undefined : decodeCheckpoint(decodeNote(text).text).size;
  };

  it('never goes back, when witnesses are first asked, restarted, given up and asked again', async () => {
    await start(false, 90n);
    expect(await shown()).toBeUndefined();
    await start(true, 100n);
    expect(await shown()).toBe(100n);
    // A witness was slow, or another process began earlier: 100 was shown already.
    await cosign(95n);
    expect(await shown()).toBe(100n);
    await start(true, 120n);
    expect(await shown()).toBe(100n);
    await cosign(110n);
    expect(await shown()).toBe(110n);
    await start(true, 130n);
    expect(await shown()).toBe(110n);
    await start(false, 140n);
    await start(true, 150n);
    expect(await shown()).toBe(150n);
    await cosign(150n);
    await cosign(151n);
    expect(await shown()).toBe(151n);
  });
});
