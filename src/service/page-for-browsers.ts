import type { Request } from 'express';
import type { Feature } from '../platform/feature.js';
import type { Reply, Route } from '../platform/http/route.js';
import { wantsPage } from '../platform/http/wants-page.js';
import type { PageReply } from './built-page.js';

/**
 * The same route, which answers with a page where a browser asks (RFC 9110 section 12.5.1): where `Accept` prefers HTML to
 * JSON. Every other client gets what it got. What does not exist is refused to both, to a browser with a page.
 */
function pageForBrowsers(route: Route, page: PageReply): Route {
  return {
    ...route,
    pageForBrowsers: true,
    async handle(context) {
      const reply = await route.handle(context);
      return withVary(wantsPage(context.request as Request) ? await page(context.headers) : reply);
    },
  };
}

/** A cache keeps the page and the JSON apart. */
function withVary(reply: Reply): Reply {
  const vary = [reply.headers?.['vary'] ?? [], 'accept'].flat().join(', ');
  return { ...reply, headers: { ...reply.headers, vary } };
}

/** The same feature, whose routes of these paths answer with a page where a browser asks. */
export function withPage(feature: Feature, paths: readonly string[], page: PageReply): Feature {
  const shown = (each: Route): Route => (paths.includes(each.path) ? pageForBrowsers(each, page) : each);
  const groups = Object.entries(feature.routes ?? {}).map(([name, routes]) => [name, routes.map(shown)] as const);
  return { ...feature, routes: Object.fromEntries(groups) };
}
