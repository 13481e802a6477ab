import { Gauge, type Registry } from 'prom-client';

/** What checks of the logs, of the chain of blocks and of the keys have found. */
export interface IntegrityMetrics {
  /** Whether the chain of blocks is halted. */
  chainLooked(isHalted: boolean): void;
  /** Number of stored copies of keys and manifests that differ from the newest manifest. */
  keyFaults(count: number): void;
  /** A quorum of the witnesses has cosigned all that was published until then. */
  witnessed(atMs: number): void;
  /** An audit of all logs has ended with so many faults. */
  audited(audit: { readonly faults: number; readonly atMs: number }): void;
}

/** Declares the metrics in this registry. */
export function createIntegrityMetrics(registry: Registry): IntegrityMetrics {
  const registers = [registry];
  const chainHalted = new Gauge({
    name: 'archivist_chain_halted',
    help: '1 while no block is added to the chain because the database and the object store differ, until an operator acts',
    registers,
  });
  const keyFaults = new Gauge({
    name: 'archivist_key_faults',
    help: 'Rows of keys and key manifests that differ from the newest key manifest; they are not used, and somebody has changed them',
    registers,
  });
  const cosigned = new Gauge({
    name: 'archivist_cosigned_timestamp_seconds',
    help: 'When a quorum of the witnesses was last known to have cosigned all that is published; 0 without witnesses',
    registers,
  });
  const auditFaults = new Gauge({
    name: 'archivist_audit_faults',
    help: 'Faults that the last scheduled audit of the logs found',
    registers,
  });
  const auditEnded = new Gauge({
    name: 'archivist_audit_timestamp_seconds',
    help: 'When the last scheduled audit of the logs had its verdict; 0 before the first',
    registers,
  });
  return {
    chainLooked: (isHalted) => chainHalted.set(isHalted ? 1 : 0),
    keyFaults: (count) => keyFaults.set(count),
    witnessed: (atMs) => cosigned.set(atMs / 1000),
    audited({ faults, atMs }) {
      auditFaults.set(faults);
      auditEnded.set(atMs / 1000);
    },
  };
}
