import { createHash } from 'node:crypto';
import { conditionOf } from '../../platform/http/conditional-request.js';
import type { Reply } from '../../platform/http/route.js';

const ANYWHERE = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'etag, x-total-count, content-range',
};
/** A sealed event's response changes once more at most, when witnesses have cosigned it. */
const SETTLED = new Set(['CONFIRMED', 'UNEQUIVOCAL']);

/**
 * A JSON response that any cache may store and any origin may read. Settled events may be reused for a minute;
 * everything else is revalidated, and not sent again while it is unchanged (RFC 9110 section 13).
 * @param subject `event` when the body is one event
 */
export function publicReply(
  reply: Reply,
  requestHeaders: Readonly<Record<string, string | undefined>>,
  subject: 'event' | 'other' = 'other',
): Reply {
  const { at_time: _, ...lasting } = reply.body as Record<string, unknown>;
  const settled = subject === 'event' && SETTLED.has(String(lasting['confirmation_status']));
  // A weak tag: the response contains the time of reading, which is not a change of the asset.
  const etag = `W/"${createHash('sha256').update(JSON.stringify(lasting)).digest('base64url')}"`;
  const headers = {
    ...reply.headers,
    ...ANYWHERE,
    etag,
    'cache-control': settled ? 'public, max-age=60' : 'public, no-cache',
  };
  return conditionOf({ 'if-none-match': requestHeaders['if-none-match'] }, etag) === 'unchanged'
    ? { status: 304, bytes: new Uint8Array(), contentType: 'application/json', headers }
    : { ...reply, headers };
}
