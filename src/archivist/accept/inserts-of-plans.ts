import { insertNewIntake } from '../../ledger/intake-store.js';
import { keepPolicies } from '../../ledger/registration-store.js';
import { insertStatements } from '../../ledger/statement-store.js';
import type { SqlStatement } from '../../platform/postgres/database.js';
import { insertAssets } from '../assets/asset-store.js';
import { insertSimpleHashEvents } from '../chain/anchor-store.js';
import { insertAssetEvents } from '../events/asset-event-store.js';
import { insertAssetFreeEvents } from '../events/asset-free-event-store.js';
import type { Plan } from './plan.js';

/** The statements that write what these plans create, in the order in which their rows refer to each other. */
export function* insertsOfPlans(plans: readonly Plan[]): Generator<SqlStatement> {
  const registrations = plans.flatMap((each) => each.registration ?? []);
  yield* insertAssets(plans.flatMap((each) => each.assets));
  yield* insertAssetEvents(plans.flatMap((each) => each.assetEvents));
  yield* insertAssetFreeEvents(plans.flatMap((each) => each.assetFreeEvents));
  yield* insertSimpleHashEvents(plans.flatMap((each) => each.simpleHashEvents));
  yield* keepPolicies(registrations.map(({ policy }) => policy));
  yield* insertStatements(registrations.map(({ statement }) => statement));
  yield* insertNewIntake(plans.flatMap((each) => each.intake));
}
