import { encodeCbor } from '../../../src/core/cose/cbor.js';
import type { LogFork } from '../../../src/core/fork/fork-statement.js';
import { sha256 } from '../../../src/core/sha256.js';

const UUID = '0199c2d0-0000-7000-8000-000000000002';
export const LOG = `log/${UUID}`;

/** A statement log of 9 entries, forked where its database had 6. */
export function sampleFork(more: Partial<LogFork> = {}): LogFork {
  const leaves = more.last?.leaves ?? 9n;
  return {
    log: `${LOG}.1`,
    continues: LOG,
    sealNumber: 4n,
    leaves: 6n,
    root: sha256(new TextEncoder().encode('six entries')),
    last: { log: LOG, number: 7n, leaves, seal: lastSeal(leaves) },
    reason: 'the disk of the newer database is lost',
    forkedAtMs: 1_760_000_000_000,
    ...more,
  };
}

/** A last seal as the object store has it; nothing but the size in it is read. */
export function lastSeal(leaves: bigint): Uint8Array {
  return encodeCbor([leaves, new Uint8Array([0xd2])]);
}
