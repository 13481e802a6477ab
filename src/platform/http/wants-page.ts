import type { Request } from 'express';

/** Whether a browser opens an address: a read whose `Accept` prefers HTML to JSON (RFC 9110 section 12.5.1). */
export function wantsPage(request: Request): boolean {
  return ['GET', 'HEAD'].includes(request.method) && request.accepts(['json', 'html']) === 'html';
}
