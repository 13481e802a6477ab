import { type Route, route } from '../platform/http/route.js';
import { builtPage } from './built-page.js';

/**
 * `/console`: the page on which people find conversations and check them. The page is the same for everybody and names
 * nobody. What a person sees of the service, the page reads by the public interface, with the person's session.
 */
export function consolePageRoute(): Route {
  return pageRoute('console', {
    operationId: 'Console_Page',
    summary: 'Show the page that finds conversations and checks their evidence in the browser',
  });
}

/**
 * `/verify`: the verifier as a page. It is one file, so that the reader may save it, and the same file for every service
 * of this version: it names no operator and sends no request.
 */
export function verifyPageRoute(): Route {
  return pageRoute('verify', {
    operationId: 'Verify_Page',
    summary: 'Show the page that checks evidence in the browser',
  });
}

function pageRoute(name: 'console' | 'verify', named: Pick<Route, 'operationId' | 'summary'>): Route {
  const page = builtPage(name);
  return route({
    ...named,
    method: 'GET',
    path: `/${name}`,
    access: 'public',
    extension: true,
    success: 200,
    codes: [304],
    rawResponse: 'text/html',
    handle: ({ headers }) => page(headers),
  });
}
