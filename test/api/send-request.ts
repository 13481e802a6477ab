import type { Answer, Client } from './test-service.js';

/** A request of any method; an answer without a body in JSON has an empty `json`. */
export async function sendRequest(
  url: string,
  client: Client,
  method: 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (client.token !== '') headers['authorization'] = `Bearer ${client.token}`;
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}${path}`, init);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const json = isJson ? (JSON.parse(new TextDecoder().decode(bytes)) as Answer['json']) : {};
  return { status: response.status, headers: response.headers, bytes, json };
}
