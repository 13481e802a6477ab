import type { IncomingMessage } from 'node:http';
import { openAttemptLimiter } from '../../platform/attempt-limiter.js';
import { networkOf } from '../../platform/http/network-address.js';
import type { Principal } from '../../platform/http/principal.js';
import type { Logger } from '../../platform/logger.js';
import { tellSecurityEvent } from '../security/record-security-event.js';
import { actorOf } from '../security/security-event.js';

/** Maximum lines per minute about one address: enough to notice, too few to fill a disk. */
const LINES = 10;

/** Logs refused access tokens. Only for a revoked token is the principal known. */
export type TellRefusedToken = (request: IncomingMessage, principal?: Omit<Principal, 'roles'>) => void;

export function createTellRefusedToken({ logger }: { readonly logger: Logger }): TellRefusedToken {
  const lines = openAttemptLimiter({
    name: 'refused-token',
    attempts: LINES,
    seconds: 60,
    redisUrl: undefined,
    logger,
  });

  async function tell(request: IncomingMessage, principal?: Omit<Principal, 'roles'>): Promise<void> {
    // Express knows the trusted proxies.
    const { ip = request.socket.remoteAddress } = request as IncomingMessage & { ip?: string };
    const address = networkOf(ip);
    if ((await lines.shutFor(address)) !== undefined) return;
    await lines.count(address);
    tellSecurityEvent(logger, {
      action: 'token.refuse',
      outcome: 'failure',
      resource: 'access token',
      actor: principal ? actorOf(principal) : { issuer: '', subject: '', displayName: '' },
      details: { address, reason: principal ? 'revoked' : 'not valid' },
      ...(principal ? { tenantId: principal.tenantId } : {}),
    });
  }

  return (request, principal) => {
    tell(request, principal).catch((error: unknown) =>
      logger.error({ err: error }, 'a refused token could not be logged'),
    );
  };
}
