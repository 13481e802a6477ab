import type { IncomingMessage } from 'node:http';
import { networkOf } from '../../platform/http/network-address.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Logger } from '../../platform/logger.js';
import { openLinesPerAddress } from '../security/lines-per-address.js';
import { tellSecurityEvent } from '../security/record-security-event.js';
import { actorOf } from '../security/security-event.js';

/** Logs refused access tokens. Only for a revoked token is the principal known. */
export type TellRefusedToken = (request: IncomingMessage, principal?: Omit<Principal, 'roles'>) => void;

export function createTellRefusedToken({ logger }: { readonly logger: Logger }): TellRefusedToken {
  const lines = openLinesPerAddress('refused-token', logger);
  return (request, principal) => {
    // Express knows the trusted proxies.
    const { ip } = request as IncomingMessage & { ip?: string };
    const address = networkOf(ip, request.socket.remoteAddress);
    lines(address, () =>
      tellSecurityEvent(logger, {
        action: 'token.refuse',
        outcome: 'failure',
        resource: 'access token',
        actor: principal ? actorOf(principal) : { issuer: '', subject: '', displayName: '' },
        details: { address, reason: principal ? 'revoked' : 'not valid' },
        ...(principal ? { tenantId: principal.tenantId } : {}),
      }),
    );
  };
}
