import { type Route, route } from '../platform/http/route.js';
import { builtPage } from './built-page.js';

/**
 * `/console`: the page on which people find conversations and check them. The page is the same for everybody and names
 * nobody. What a person sees of the service, the page reads by the public interface, with the person's session.
 */
export function consolePageRoutes(): Route[] {
  const page = builtPage('console');
  return [
    route({
      method: 'GET',
      path: '/console',
      operationId: 'Console_Page',
      summary: 'Show the page that finds conversations and checks their evidence in the browser',
      access: 'public',
      extension: true,
      success: 200,
      codes: [304],
      rawResponse: 'text/html',
      handle: ({ headers }) => page(headers),
    }),
  ];
}
