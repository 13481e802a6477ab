import type { Feature } from '../platform/feature.js';
import { type TlogDeps, tlogRoutes } from './tlog-routes.js';

/** Checkpoints, tiles and entries of the statement logs. */
export function openStatementLogs(base: TlogDeps): Feature {
  return { routes: { 'v1/tlog': tlogRoutes(base) } };
}
