const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Fetches from this address alone: a redirect would send what is asked, or a token, to another one. The time covers the
 * body as well. `redirect: 'error'` does the same, but on Node 20 and 22 its signal is lost when memory is collected while
 * the body is read (nodejs/node#55428), and its reader waits for ever.
 * @throws {TypeError} when the server redirects or cannot be reached
 * @throws {DOMException} `TimeoutError`, here or while the body is read
 */
export async function fetchDirect(url: string, init: RequestInit, withinMs: number): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(withinMs) });
  if (!REDIRECTS.includes(response.status)) return response;
  await response.body?.cancel();
  throw new TypeError('the server redirects, and redirects are not followed');
}
