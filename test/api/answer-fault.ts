import type { RawAnswer } from './raw-request.js';

/** Far more than any answer needs on a busy machine, far less than a client waits. */
export const LATEST_MS = 10_000;

/** What holds of every answer of ours, whatever was asked. */
export function faultOf({ status, head, body, milliseconds }: RawAnswer): string | undefined {
  if (milliseconds >= LATEST_MS) return `no answer within ${LATEST_MS} ms`;
  if (status === 0) return 'the answer is not HTTP';
  // 501 is about the request: its transfer coding.
  if (status >= 500 && status !== 501) return `answered ${status}`;
  if (/node_modules|\.[jt]s:\d+/.test(body)) return 'the answer tells of our insides';
  if (!head.includes('content-type: application/json') || body === '') return undefined;
  const json = parsed(body);
  if (json === undefined) return 'the answer says that it is JSON, and is not';
  const refusal = json as { error?: unknown; description?: unknown };
  const explains = typeof refusal.error === 'string' && typeof refusal.description === 'string';
  return status >= 400 && !explains ? `the ${status} does not say why` : undefined;
}

/** The value of JSON, or undefined for what is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
