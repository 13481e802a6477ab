import { createHash, timingSafeEqual } from 'node:crypto';

const BEARER = /^bearer +(\S+)$/i;

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether an Authorization header carries the secret, compared in constant time. */
export function carriesSecret(authorization: string | undefined, secret: string): boolean {
  const given = BEARER.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(secret));
}
