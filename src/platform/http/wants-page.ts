import type { Request } from 'express';

/** How the `Accept` begins that Java's own client sends unless a program sets one. No browser begins so. */
const JAVA = /^text\/html, image\/gif, image\/jpeg,/;

/** Whether a browser opens an address: a read whose `Accept` prefers HTML to JSON (RFC 9110 section 12.5.1). */
export function wantsPage(request: Request): boolean {
  if (!['GET', 'HEAD'].includes(request.method) || JAVA.test(request.headers.accept ?? '')) return false;
  return request.accepts(['json', 'html']) === 'html';
}
