import { isOwner } from '../../iam/access/owner-and-creator.js';
import { readAccess } from '../../iam/access/read-access.js';
import { applicationPrincipal } from '../../iam/applications/application-principal.js';
import { findApplication } from '../../iam/applications/application-store.js';
import type { Database } from '../../platform/postgres/database.js';
import { lookAtAsset } from '../assets/see-asset.js';
import type { Deployment } from '../deployment.js';
import { readScope } from '../read-scope.js';
import type { Notice, Webhook } from './webhook.js';

/** The data of a notice, if the webhook's application may read it at this moment. */
export function noticeFor(
  deps: { readonly database: Database; readonly deployment: Deployment; readonly publicUrl: string },
  { tenantId, applicationId }: Webhook,
  { readers, data }: Notice,
): Promise<Notice['data'] | undefined> {
  return deps.database.inTransaction(readScope(deps.deployment, tenantId), async (tx) => {
    const application = await findApplication(tx, { tenantId, applicationId });
    if (!application) return undefined;
    const principal = applicationPrincipal(application, deps.publicUrl);
    if (isOwner(principal)) return data;
    if ('applicationId' in readers) return readers.applicationId === applicationId ? data : undefined;
    const seen = await lookAtAsset(tx, await readAccess(tx, principal), readers.assetId);
    // After the end of a share, a reader learns nothing new about the asset.
    return seen?.view.visible && !seen.view.asOf ? data : undefined;
  });
}
