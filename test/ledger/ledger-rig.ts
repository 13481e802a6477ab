import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { uint64ToBytes, utf8 } from '../../src/core/bytes.js';
import { HashAlgorithm } from '../../src/core/cose/algorithms.js';
import { webCryptoVerify } from '../../src/core/cose/web-crypto-verify.js';
import { sha256 } from '../../src/core/sha256.js';
import type { Failpoints } from '../../src/ledger/failpoints.js';
import { createIntakeCursors } from '../../src/ledger/intake-cursors.js';
import { insertIntake } from '../../src/ledger/intake-store.js';
import type { EntryKind, LeafEntry } from '../../src/ledger/leaf-source.js';
import type { LogRef, LogStructure } from '../../src/ledger/log.js';
import { createLog } from '../../src/ledger/log-store.js';
import type { RoundState } from '../../src/ledger/round-state.js';
import { runRound } from '../../src/ledger/run-round.js';
import { createSealMemory } from '../../src/ledger/seal-memory.js';
import { systemClock } from '../../src/platform/clock.js';
import { createIds } from '../../src/platform/ids.js';
import type { ObjectStore } from '../../src/platform/object-store.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { executeAll } from '../../src/platform/postgres/execute-all.js';
import { createTestKeyring, type TestKeyring } from './test-keyring.js';

/** Leaves of entries that exist in this test alone: random 32 bytes each, hashed with what the log gave out. */
export interface TestEntries {
  readonly secrets: Map<string, Uint8Array>;
  leaf(entryId: string, idtimestamp: bigint, timestampCommitted: string): Uint8Array;
}

/** One process's sequencer over a database, an object store and keys that others may share. */
export interface LedgerRig {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly keyring: TestKeyring;
  readonly entries: TestEntries;
  readonly state: RoundState;
  /** Called at every failpoint; a test replaces it. */
  onReach: (name: string) => Promise<void> | void;
  /** Called with what is published; a test replaces it. */
  onPublished: RoundState['context']['published'];
  nowMs: () => number;
  readonly reached: string[];
  readonly messages: string[];
  newLog(structure: LogStructure, massifHeight?: number): Promise<LogRef>;
  accept(log: LogRef, kind: EntryKind, count: number): Promise<string[]>;
  /** Rounds until nothing is left. */
  drain(log: LogRef): Promise<void>;
  /** Another process on the same database, object store, keys and entries. */
  sibling(): LedgerRig;
}

function createEntries(): TestEntries {
  const secrets = new Map<string, Uint8Array>();
  return {
    secrets,
    leaf: (entryId, idtimestamp, timestampCommitted) =>
      sha256(Uint8Array.of(0), uint64ToBytes(idtimestamp), utf8(timestampCommitted), secrets.get(entryId)!),
  };
}

export interface RigParts {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly keyring?: TestKeyring;
  readonly entries?: TestEntries;
}

/** A logger that keeps what was said; anything that is not asked for does nothing. */
function keepMessages(messages: string[]) {
  const say = (_: unknown, message: string) => void messages.push(message);
  return { debug: say, info: say, warn: say, error: say, fatal: say } as never;
}

export function createRig(parts: RigParts): LedgerRig {
  const { database, objectStore } = parts;
  const keyring = parts.keyring ?? createTestKeyring();
  const entries = parts.entries ?? createEntries();
  const tenantId = randomUUID();
  const ids = createIds(systemClock);
  const failpoints: Failpoints = {
    reach: async (name) => {
      rig.reached.push(name);
      await rig.onReach(name);
    },
  };
  const messages: string[] = [];
  const state: RoundState = {
    holder: randomUUID(),
    memory: createSealMemory(),
    cursors: createIntakeCursors(),
    left: new LRUCache({ max: 10 }),
    frontiers: new LRUCache({ max: 10 }),
    committed: () => {},
    context: {
      database,
      objectStore,
      keyring,
      verifySignature: webCryptoVerify,
      clock: { now: () => rig.nowMs() },
      logger: keepMessages(messages),
      failpoints,
      leafSource: {
        async leaves(_tx, _log, waiting) {
          return waiting.map(
            ({ entryId, entryKind }): LeafEntry => ({
              entryId,
              leaf: (id, time) => entries.leaf(entryId, id, time),
              trieKey: sha256(utf8(entryId)),
              ...(entryKind === 'asset_free_event'
                ? { extraBytes: Uint8Array.of(1, ...new Uint8Array(23).fill(7)) }
                : {}),
            }),
          );
        },
      },
      published: (...values) => rig.onPublished(...values),
      statementSource: {
        async contents(_tx, waiting) {
          // A statement that begins a generation is of no event.
          const own = waiting.filter(({ entryId }) => entries.secrets.has(entryId));
          return own.map(({ entryId, entryTenantId }) => ({
            entryId,
            tenantId: entryTenantId,
            content: {
              template: {
                payload: sha256(entries.secrets.get(entryId)!),
                payloadHashAlg: HashAlgorithm.sha256,
                subject: `vcon://${entryId}`,
                meta: new Map(),
              },
            },
          }));
        },
      },
      receiptIssuer: 'https://archivist.example',
      statementIssuer: () => 'did:web:archivist.example',
    },
  };
  const rig: LedgerRig = {
    database,
    objectStore,
    keyring,
    entries,
    state,
    onReach: () => {},
    onPublished: () => {},
    nowMs: () => Date.now(),
    reached: [],
    messages,
    async newLog(structure, massifHeight = 14) {
      const logId = randomUUID();
      const log = { tenantId: structure === 'MMR_SHA256' ? logId : tenantId, logId };
      const name = structure === 'MMR_SHA256' ? `tenant/${logId}` : `log/${logId}`;
      await database.inTransaction('system', (tx) =>
        createLog(tx, { ...log, structure, name, massifHeight, createdAt: new Date() }),
      );
      return log;
    },
    async accept(log, entryKind, count) {
      const made = Array.from({ length: count }, () => ids.uuid());
      for (const id of made) entries.secrets.set(id, ids.randomBytes(32));
      const rows = made.map((entryId) => ({ ...log, entryId, entryKind, entryTenantId: tenantId, entryLength: 32 }));
      await database.inTransaction('system', (tx) => executeAll(tx, insertIntake(rows)));
      return made;
    },
    async drain(log) {
      while (await runRound(state, log));
    },
    sibling: () => createRig({ database, objectStore, keyring, entries }),
  };
  return rig;
}
