import { leafSource } from '../archivist/leaf-source.js';
import { statementSource } from '../archivist/statement-source.js';
import { issuerDid } from '../core/statement/issuer-did.js';
import { createLedger, type Ledger } from '../ledger/round.js';
import { type Closers, closeAll } from '../platform/close-all.js';
import type { DiskUse } from '../platform/disk/disk-full.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import type { BaseSettings, LedgerSettings } from './base-settings.js';
import type { LedgerReport } from './ledger-report.js';
import { type Base, openBase } from './open-base.js';
import { watchKeys } from './watch-keys.js';

/** The ledger, not started yet. */
export function createServiceLedger(config: LedgerSettings, base: Base, { metrics, published }: LedgerReport): Ledger {
  return createLedger({
    database: base.database,
    objectStore: base.objectStore,
    keyring: base.keyring,
    verifySignature: nodeVerify,
    clock: base.clockWatch.right,
    logger: base.logger,
    failpoints: base.failpoints,
    published,
    leafSource,
    statementSource,
    receiptIssuer: config.publicUrl,
    statementIssuer: (tenantId) => issuerDid(config.publicUrl, tenantId),
    hashEnvelopeLabels: config.hashEnvelopeLabels,
    ids: base.ids,
    queueBackend: base.backend,
    metrics,
    mayRun: () =>
      !base.disk.isFull('database') && !base.disk.isFull('objects') && base.clockWatch.fault() === undefined,
    parallelLogs: base.database.engine === 'PostgreSQL' ? 4 : 1,
  });
}

/** Starts only the ledger, on its own connections. */
export async function startLedger(
  config: BaseSettings & LedgerSettings,
  report: LedgerReport,
  diskReported: (use: DiskUse) => void,
): Promise<Pick<Ledger, 'nudge' | 'prepare'> & { close(): Promise<void> }> {
  const closers: Closers = [];
  const base = await openBase(config, { diskReported }, closers);
  const ledger = createServiceLedger(config, base, report);
  const keys = watchKeys(base);
  closers.push(() => keys.close());
  await ledger.start();
  await base.disk.start();
  /** A key that another thread or process has rotated stops signing within a second. */
  const withNewKeys = (work: () => void): void => {
    keys
      .refresh()
      .catch((error: unknown) =>
        base.logger.warn(
          { err: error },
          'the keys could not be read; this is retried, and the keys read last stay in use',
        ),
      )
      .finally(work);
  };
  return {
    nudge: (...nudge) => withNewKeys(() => ledger.nudge(...nudge)),
    prepare: (log, coming) => withNewKeys(() => ledger.prepare(log, coming)),
    async close() {
      await ledger.stop();
      await closeAll(closers);
    },
  };
}
