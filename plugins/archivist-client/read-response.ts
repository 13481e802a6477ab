import { DeliverLater, noAnswer } from './delivery-failure.js';

/**
 * The JSON object of a response; its members are not checked.
 * @param what names the request in the error
 * @throws {DeliverLater} when it is another value or not JSON, or ends early
 */
export async function readJson<Body extends object>(response: Response, what: string): Promise<Body> {
  let body: unknown;
  try {
    body = await response.json();
  } catch (error) {
    throw noAnswer(what, error);
  }
  if (typeof body !== 'object' || body === null) throw notOfService(what);
  return body as Body;
}

/** For what a proxy answers with success in the place of the service, such as a page about maintenance. */
export function notOfService(what: string): DeliverLater {
  return new DeliverLater(`${what}: the answer is not from the service`);
}

/** The bytes of a response. @throws {DeliverLater} when it is a text, as a proxy's page is, or ends early */
export async function readBytes(response: Response, what: string): Promise<Uint8Array> {
  if (response.headers.get('content-type')?.startsWith('text/')) {
    await response.body?.cancel();
    throw notOfService(what);
  }
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw noAnswer(what, error);
  }
}

/** The identity of what a request has created. @throws {DeliverLater} when the response has none */
export async function readIdentity(response: Response, what: string): Promise<string> {
  const { identity } = await readJson<{ identity?: unknown }>(response, what);
  if (typeof identity !== 'string') throw new DeliverLater(`${what}: the answer has no identity`);
  return identity;
}
