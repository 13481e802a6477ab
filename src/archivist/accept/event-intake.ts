import { type IntakeRow, intakeRow } from '../../ledger/intake-store.js';
import type { EntryKind } from '../../ledger/leaf-source.js';
import { tenancyLog } from '../../ledger/log.js';
import type { Asset } from '../assets/asset.js';
import type { Attributes } from '../attributes.js';
import { type Deployment, statementLog } from '../deployment.js';
import type { AssetEvent } from '../events/asset-event.js';
import type { AssetFreeEvent } from '../events/asset-free-event.js';

/** About as many characters as its JSON text has; making that text only to count them took a hundredth of the time. */
function lengthOf(attributes: Attributes): number {
  let length = 1;
  for (const [name, value] of Object.entries(attributes))
    length += name.length + AROUND_NAME + (typeof value === 'string' ? value.length + 2 : JSON.stringify(value).length);
  return length;
}

/** Its quotes, a colon and a comma. */
const AROUND_NAME = 4;

/**
 * The logs that an accepted event of an asset waits for: its tenancy's, the public one for its public form, and, if it
 * has a statement, a statement log.
 */
export function assetEventIntake(
  asset: Pick<Asset, 'public'>,
  { eventId, tenantId, eventAttributes, assetAttributes }: AssetEvent,
  deployment: Deployment,
  hasStatement: boolean,
): IntakeRow[] {
  const { publicTenancy } = deployment;
  const entryLength = lengthOf(eventAttributes) + lengthOf(assetAttributes);
  const entry = (entryKind: EntryKind, entryTenantId: string) =>
    ({ entryId: eventId, entryKind, entryTenantId, entryLength }) as const;
  const rows = [intakeRow(tenancyLog(tenantId), entry('asset_event', tenantId))];
  if (asset.public) rows.push(intakeRow(tenancyLog(publicTenancy), entry('asset_event', publicTenancy)));
  if (hasStatement) {
    const entryTenantId = asset.public ? publicTenancy : tenantId;
    rows.push(intakeRow(statementLog(deployment, asset.public), entry('statement', entryTenantId)));
  }
  return rows;
}

/** The logs that an asset-free event waits for. */
export function assetFreeEventIntake(
  { eventId, tenantId, attributes }: AssetFreeEvent,
  deployment: Deployment,
): IntakeRow[] {
  const entry = { entryId: eventId, entryTenantId: tenantId, entryLength: lengthOf(attributes) };
  return [
    intakeRow(tenancyLog(tenantId), { ...entry, entryKind: 'asset_free_event' }),
    // The leaf does not cover the whole record, so each event also gets a statement that does.
    intakeRow(statementLog(deployment, false), { ...entry, entryKind: 'statement' }),
  ];
}
