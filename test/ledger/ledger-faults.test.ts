import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogStructure } from '../../src/ledger/log.js';
import type { ObjectStore } from '../../src/platform/object-store.js';
import { engines } from '../support/engines.js';
import { auditLog, type Remembered } from './ledger-audit.js';
import type { LedgerRig } from './ledger-rig.js';
import { type Opened, openEngine } from './test-engines.js';

const PLACES = [
  'sign.before',
  'sign.inside',
  'sign.after',
  'commit.before',
  'commit.inside',
  'commit.after',
  'seal.before',
  'seal.signed',
  'seal.inside',
  'seal.after',
  'publish.before',
  'publish.numbered',
  'publish.files',
  'publish.inside',
  'publish.after',
];
const LOGS: readonly (readonly [LogStructure, 'asset_event' | 'statement'])[] = [
  ['MMR_SHA256', 'asset_event'],
  ['RFC9162_SHA256', 'statement'],
];

class Fault extends Error {}

/** Work before, a fault that strikes twice in a row during the next, then recovery and more work; audited throughout. */
async function sufferAndRecover(
  rig: LedgerRig,
  [structure, kind]: (typeof LOGS)[number],
  strike: (broken: () => boolean) => void,
): Promise<void> {
  const log = await rig.newLog(structure, 3);
  const remembered: Remembered = new Map();
  const accepted = await rig.accept(log, kind, 5);
  await rig.drain(log);
  await auditLog(rig, log, accepted, remembered);

  let armed = false;
  let struck = 0;
  strike(() => {
    if (!armed) return false;
    armed = false;
    struck += 1;
    return true;
  });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    armed = true;
    // A step that was kept before its fault is not done again: new work brings the ledger back to the same place. With as
    // many leaves as a massif has, one becomes full.
    accepted.push(...(await rig.accept(log, kind, 4)));
    await expect(rig.drain(log)).rejects.toThrow(Fault);
  }
  expect(struck).toBe(2);

  accepted.push(...(await rig.accept(log, kind, 3)));
  // A new process, with nothing in memory.
  const recovered = rig.sibling();
  await recovered.drain(log);
  await auditLog(recovered, log, accepted, remembered);
}

describe.each(engines())('a ledger on %s that fails twice in a row', (engine) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await openEngine(engine);
  });
  afterAll(() => opened.close());

  describe.each(LOGS)('in a log of %s', (...log) => {
    it.each(PLACES.filter((place) => log[1] === 'statement' || !/^sign.(inside|after)/.test(place)))(
      'at %s has every entry in it once afterwards, and earlier receipts unchanged',
      async (place) => {
        const rig = opened.rig();
        await sufferAndRecover(rig, log, (broken) => {
          rig.onReach = (name) => {
            if (name === place && broken()) throw new Fault(place);
          };
        });
      },
    );

    it.each(
      log[0] === 'MMR_SHA256' ? (['get', 'stage', 'putNew', 'put'] as const) : (['get', 'stage', 'putNew'] as const),
    )('in the object store at %s, before and after it was done', async (operation) => {
      for (const done of [false, true]) {
        const rig = opened.rig();
        const inner = { ...rig.objectStore };
        await sufferAndRecover(rig, log, (broken) => {
          const failing = async (...parameters: never[]) => {
            const fails = broken();
            if (fails && !done) throw new Fault(operation);
            const result = await (inner[operation] as (...parameters: never[]) => Promise<unknown>)(...parameters);
            if (fails) throw new Fault(operation);
            return result;
          };
          Object.assign(rig.objectStore, { [operation]: failing } as Partial<ObjectStore>);
        });
      }
    });
  });
});
