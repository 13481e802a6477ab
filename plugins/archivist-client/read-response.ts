import { DeliverLater, noAnswer } from './delivery-failure.js';

/**
 * The JSON of a response; its shape is not checked.
 * @param what names the request in the error
 * @throws {DeliverLater} when it is not JSON, or ends early
 */
export async function readJson<Body>(response: Response, what: string): Promise<Body> {
  try {
    return (await response.json()) as Body;
  } catch (error) {
    throw noAnswer(what, error);
  }
}

/** The bytes of a response. @throws {DeliverLater} when it ends early */
export async function readBytes(response: Response, what: string): Promise<Uint8Array> {
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
