import type { Request } from 'express';
import type { Reply, Route } from '../platform/http/route.js';
import type { PageReply } from './built-page.js';

/**
 * The same route, which answers with a page where a browser asks (RFC 9110 section 12.5.1): where `Accept` prefers HTML to
 * JSON. Every other client gets what it got. A resource that does not exist is refused to both.
 */
export function pageForBrowsers(route: Route, page: PageReply): Route {
  return {
    ...route,
    pageForBrowsers: true,
    async handle(context) {
      const reply = await route.handle(context);
      const accepts = (context.request as Request).accepts(['json', 'html']);
      return withVary(accepts === 'html' ? await page(context.headers) : reply);
    },
  };
}

/** A cache keeps the page and the JSON apart. */
function withVary(reply: Reply): Reply {
  const vary = [reply.headers?.['vary'] ?? [], 'accept'].flat().join(', ');
  return { ...reply, headers: { ...reply.headers, vary } };
}
