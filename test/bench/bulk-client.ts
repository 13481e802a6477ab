import type { ServiceUnderTest } from './service-under-test.js';

/** Most events of one bulk request. */
export const BULK = 1000;
/** Requests under way at once: while one waits for the disk, another is read. */
const AT_ONCE = 3;

/** Events that were recorded. */
export interface Recorded {
  /** In their order. */
  readonly identities: string[];
  /** From the first request to the last answer: the requests are written before, and the answers read after. */
  readonly seconds: number;
}

/**
 * Records events in bulk requests. Resolves when all are durable.
 * @throws {Error} when one of them is refused
 */
export async function recordInBulk(
  { reader, headers }: ServiceUnderTest,
  path: '/archivist/v2/assets/-/events:bulk' | '/archivist/v1/events:bulk',
  events: readonly Record<string, unknown>[],
): Promise<Recorded> {
  const bodies = Array.from({ length: Math.ceil(events.length / BULK) }, (_, place) =>
    JSON.stringify({ events: events.slice(place * BULK, (place + 1) * BULK) }),
  );
  const answers: Buffer[] = [];
  let next = 0;
  const sendSome = async (): Promise<void> => {
    for (let place = next++; place < bodies.length; place = next++) {
      const sent = { ...headers, 'content-type': 'application/json' };
      const { status, bytes } = await reader.send({ method: 'POST', path, headers: sent, body: bodies[place]! });
      if (status !== 200)
        throw new Error(`a bulk request was answered with ${status}: ${bytes.toString().slice(0, 300)}`);
      answers[place] = bytes;
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
  const seconds = (performance.now() - begun) / 1000;
  return { identities: answers.flatMap(identitiesIn), seconds };
}

function identitiesIn(answer: Buffer): string[] {
  const { events } = JSON.parse(answer.toString('utf8')) as {
    events: { status: number; description?: string; event?: { identity: string } }[];
  };
  return events.map(({ status, description, event }) => {
    if (status !== 200 || !event)
      throw new Error(`an event of a bulk request was answered with ${status}: ${description}`);
    return event.identity;
  });
}
