import { nodeVerify } from '../../src/platform/keys/node-verify.js';
import { openObjectStore } from '../../src/platform/open-object-store.js';
import { auditDeployment } from '../../src/service/audit-deployment.js';
import { parseConfig } from '../../src/service/config/config.js';
import type { TestService } from './test-service.js';
import type { TestWitness } from './test-witness.js';

/**
 * What the audit of a service finds.
 * @param witnesses each has cosigned every checkpoint
 * @param database that of the service; another one once the service is closed
 */
export async function faultsOfAudit(
  { environment, service }: TestService,
  witnesses: readonly TestWitness[] = [],
  database = service.parts.database,
): Promise<string[]> {
  const { keyring, deployment } = service.parts;
  const faults: string[] = [];
  await auditDeployment({
    atOnce: 2,
    database,
    keyring,
    deployment,
    objectStore: await openObjectStore(parseConfig(environment).objectStore),
    verifySignature: nodeVerify,
    witnesses: witnesses.map(({ key }) => key),
    quorum: witnesses.length,
    fault: (log, what) => void faults.push(`${log}: ${what}`),
    progress: () => undefined,
  });
  return faults;
}
