import { join } from 'node:path';
import { fileObjectStore } from '../../src/platform/file-object-store.js';
import type { Engine, TestDatabase } from '../support/engines.js';
import { createRig, type LedgerRig } from './ledger-rig.js';

/** A database of its own and everything that a ledger stands on. */
export interface Opened extends TestDatabase {
  rig(): LedgerRig;
}

export async function openEngine(engine: Engine): Promise<Opened> {
  const opened = await engine.open();
  const { database, environment } = opened;
  let stores = 0;
  return {
    ...opened,
    rig() {
      stores += 1;
      return createRig({ database, objectStore: fileObjectStore(join(environment.DATA_DIR, `objects-${stores}`)) });
    },
  };
}
