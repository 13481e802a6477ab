import { type Route, route } from '../platform/http/route.js';
import { builtPage } from './built-page.js';

/**
 * `/verify`: the verifier as a page. It is one file, so that the reader may save it, and the same file for every service
 * of this version: it names no operator and sends no request.
 */
export function verifyPageRoutes(): Route[] {
  const page = builtPage('verify');
  return [
    route({
      method: 'GET',
      path: '/verify',
      operationId: 'Verify_Page',
      summary: 'Show the page that checks evidence in the browser',
      access: 'public',
      extension: true,
      success: 200,
      codes: [304],
      rawResponse: 'text/html',
      handle: ({ headers }) => page(headers),
    }),
  ];
}
