// The entry point of a thread of an audit (`audit-threads.ts`).
import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { leafSource } from '../archivist/leaf-source.js';
import { statementSource } from '../archivist/statement-source.js';
import { createDeriveRange } from '../ledger/audit/derive-range.js';
import { nodeVerify } from '../platform/keys/node-verify.js';
import { openPostgresql } from '../platform/postgres/open-postgresql.js';
import type { AuditThreadData, FromAuditThread, ToAuditThread } from './audit-threads.js';

async function main(): Promise<void> {
  const port = parentPort!;
  const { databaseUrl, issuerKeys } = workerData as AuditThreadData;
  // A restore is audited before it has finished.
  const database = await openPostgresql(databaseUrl, pino({ level: 'silent' }), { restoring: true, asItIs: true });
  const derive = createDeriveRange({
    database,
    issuerKeys,
    leafSource,
    statementSource,
    verifySignature: nodeVerify,
  });
  const answer = (message: FromAuditThread): void => port.postMessage(message);
  port.on('message', (message: ToAuditThread | 'stop') => {
    if (message === 'stop') {
      void database.close().then(() => port.close());
      return;
    }
    const { id, range } = message;
    derive(...range).then(
      (derived) => answer({ id, derived }),
      (error: Error & { code?: string }) => answer({ id, failed: error.message, code: error.code }),
    );
  });
}

await main();
