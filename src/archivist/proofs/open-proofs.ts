import type { Feature } from '../../platform/feature.js';
import { type ProofDeps, proofRoutes } from './proof-routes.js';

/** Groups of routes that have the proofs of their events. */
const PROVEN = ['v2/assets', 'v1/events', 'v2/publicassets'];

/** Receipts, transparent statements and evidence bundles, each under the path of its event. */
export function openProofs(base: ProofDeps): Feature {
  const routes = proofRoutes(base);
  const under = (group: string) => routes.filter(({ path }) => path.startsWith(`/archivist/${group}/`));
  return { routes: Object.fromEntries(PROVEN.map((group) => [group, under(group)])) };
}
