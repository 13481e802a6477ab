import type { IncomingMessage } from 'node:http';

/**
 * Returns whether a page of another origin made a browser send this request: according to `Origin`, or to Fetch Metadata,
 * which also names other origins of the same site, such as another port. An address that a person opens (`none`) only
 * reads. Programs send neither header.
 */
export function isSentByOtherPage({ method, headers }: IncomingMessage, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (origin !== undefined && origin !== new URL(publicUrl).origin) return true;
  return site !== 'same-origin' && !(site === 'none' && (method === 'GET' || method === 'HEAD'));
}
