import { fetchDirect } from '../../src/platform/http/fetch-direct.js';
import { noAnswer } from './delivery-failure.js';

/**
 * Sends a request, and resolves with the response of any status.
 * @param what names the request in the error
 * @throws {DeliverLater} when there is no response
 */
export async function sendRequest(what: string, url: string, init: RequestInit, timeoutMs: number): Promise<Response> {
  try {
    return await fetchDirect(url, init, timeoutMs);
  } catch (error) {
    throw noAnswer(what, error);
  }
}
