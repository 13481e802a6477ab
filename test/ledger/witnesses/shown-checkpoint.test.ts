import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeCheckpoint, encodeCheckpoint } from '../../../src/core/tlog/checkpoint.js';
import { decodeNote, encodeNote, NoteKeyType, signatureLine } from '../../../src/core/tlog/signed-note.js';
import type { LogRef } from '../../../src/ledger/log.js';
import { keepCosigned, settleCheckpoint, shownCheckpoint } from '../../../src/ledger/witnesses/shown-checkpoint.js';
import { insertCosigned } from '../../../src/ledger/witnesses/witness-store.js';
import type { Database } from '../../../src/platform/postgres/database.js';
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

  /** What a process shows that was or was not given witnesses, while this much is published. */
  const publishing = (witnessed: boolean, published: bigint) => ({
    witnessed,
    plain: async () => note(published),
    signed: async ({ size }: { size: bigint }) => note(size),
  });
  const start = (witnessed: boolean, published: bigint) =>
    settleCheckpoint(opened.database, log, publishing(witnessed, published));
  const cosign = (size: bigint) =>
    opened.database.inTransaction('system', (tx) => insertCosigned(tx, log, size, note(size)));
  const shown = async (witnessed = true, published = 0n) => {
    const text = await shownCheckpoint(opened.database, log, publishing(witnessed, published));
    return text === undefined ? undefined : decodeCheckpoint(decodeNote(text).text).size;
  };

  it('never goes back, when witnesses are first asked, restarted, given up and asked again', async () => {
    await start(false, 90n);
    expect(await shown(false)).toBeUndefined();
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

  it('does not go back either between processes that are given witnesses, or lose them, one after the other', async () => {
    await start(false, 200n);
    await start(true, 210n);
    expect([await shown(true, 220n), await shown(false, 220n)]).toEqual([210n, 210n]);
    await cosign(215n);
    expect([await shown(true, 220n), await shown(false, 220n)]).toEqual([215n, 215n]);
    await start(false, 230n);
    expect(await shown(false, 230n)).toBeUndefined();
    expect([await shown(true, 240n), await shown(false, 250n)]).toEqual([240n, 240n]);
  });

  it('is not an older one that was kept beside a newer one, also if both are stored while it is read', async ({
    skip,
  }) => {
    skip(opened.database.connections === 1, 'nothing else is committed during a transaction');
    await start(false, 300n);
    await start(true, 300n);
    const own = { ...publishing(true, 307n), ownKeys: [] };
    const keep = () =>
      opened.database.inTransaction('system', (tx) => keepCosigned(tx, log, { size: 301n, note: note(301n) }, own));
    let queries = 0;
    const interrupted: Pick<Database, 'inTransaction'> = {
      inTransaction: (scope, work) =>
        opened.database.inTransaction(scope, (tx) =>
          work({
            ...tx,
            async query(text, values) {
              const rows = await tx.query(text, values);
              queries += 1;
              if (queries === 1) await keep();
              return rows as never;
            },
          }),
        ),
    };
    const text = await shownCheckpoint({ ...opened.database, ...interrupted }, log, publishing(true, 307n));
    expect(decodeCheckpoint(decodeNote(text!).text).size).toBe(307n);
  });
});
