import type { Feature } from '../../platform/feature.js';
import type { IssueTokenDeps } from './issue-token.js';
import { principalRoutes } from './principal-routes.js';
import { tokenRoutes } from './token-routes.js';

/** Access tokens, and who the caller of a token is. */
export function openTokens(base: IssueTokenDeps): Feature {
  return { routes: { 'iam/v1/principal': principalRoutes(), 'iam/v1/appidp': tokenRoutes(base) } };
}
