import type { Feature } from '../../platform/feature.js';
import { openLinesPerAddress } from '../security/lines-per-address.js';
import type { IssueTokenDeps } from './issue-token.js';
import { principalRoutes } from './principal-routes.js';
import { tokenRoutes } from './token-routes.js';

/** Opens access tokens, and the identification of callers by them. */
export function openTokens(base: Omit<IssueTokenDeps, 'lines'>): Feature {
  const lines = openLinesPerAddress('refused-secret', base.logger);
  return { routes: { 'iam/v1/principal': principalRoutes(), 'iam/v1/appidp': tokenRoutes({ ...base, lines }) } };
}
