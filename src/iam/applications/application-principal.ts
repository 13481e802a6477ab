import type { Principal } from '../../platform/http/principal.js';
import { tokenIssuer } from '../token-issuer.js';
import type { Application } from './application.js';

/** The principal that a token of this application would have now. */
export function applicationPrincipal(application: Application, publicUrl: string): Principal {
  const { tenantId, applicationId, displayName, roles, customClaims } = application;
  const shown = { displayName, email: '', roles, claims: customClaims };
  return { kind: 'application', tenantId, issuer: tokenIssuer(publicUrl), subject: applicationId, ...shown };
}
