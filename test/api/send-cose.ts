import type { Answer, Client } from './test-service.js';

/** A POST or GET of bytes; redirects are answers. */
export async function sendCose(
  url: string,
  client: Client,
  path: string,
  body?: Uint8Array,
  headers: Record<string, string> = { 'content-type': 'application/cose' },
): Promise<Answer> {
  const authorization: Record<string, string> = client.token === '' ? {} : { authorization: `Bearer ${client.token}` };
  const all = body ? { ...authorization, ...headers } : authorization;
  const init = body ? { method: 'POST', body: body.slice(), headers: all } : { headers: all };
  const response = await fetch(path.startsWith('http') ? path : `${url}${path}`, { ...init, redirect: 'manual' });
  return {
    status: response.status,
    headers: response.headers,
    bytes: new Uint8Array(await response.arrayBuffer()),
    json: {},
  };
}
