import { z } from 'zod';
import { ApiError } from '../../platform/errors.js';
import { clientGone } from '../../platform/http/client-gone.js';
import { EVENT_STREAM } from '../../platform/http/event-frame.js';
import { type Route, route } from '../../platform/http/route.js';
import type { OpenEventStream } from './stream-events.js';

/** A client that reads nothing for this long is disconnected; it resumes where it was. */
const STALLED_MS = 30_000;
const MOST_SECONDS = 86_400;
const POSITION = /^(-1|0|[1-9]\d{0,17})$/;
const position = z.string().regex(POSITION, 'must be a position in the log: a decimal number, or -1 for its beginning');
const seconds = z
  .string()
  .refine(
    (text) => /^\d{1,5}$/.test(text) && Number(text) <= MOST_SECONDS,
    `must be a number of seconds from 0 to ${MOST_SECONDS}`,
  )
  .transform(Number)
  .meta({ type: 'integer', minimum: 0, maximum: MOST_SECONDS });

/** `GET /archivist/v1/events/stream` (docs/api.md#the-stream-of-events). */
export function eventStreamRoutes(open: OpenEventStream): Route[] {
  return [
    route({
      method: 'GET',
      path: '/archivist/v1/events/stream',
      operationId: 'Events_Stream',
      summary: 'Follow the events of the tenancy as they are confirmed (server-sent events)',
      access: 'token',
      extension: true,
      success: 200,
      codes: [400, 401, 403, 410, 429],
      query: z.object({
        cursor: position.optional(),
        seconds: seconds.optional(),
      }),
      rawResponse: EVENT_STREAM,
      handle: async ({ principal, query, headers, identify, request }) => {
        const cursor = cursorOf(headers['last-event-id'], query.cursor);
        const gone = clientGone(request);
        const content = await open({ principal, cursor, seconds: query.seconds, identify, gone });
        return {
          stream: { content, stalledMs: STALLED_MS },
          contentType: EVENT_STREAM,
          // Proxies that follow nginx buffer a response unless it says otherwise.
          headers: { 'x-accel-buffering': 'no', connection: 'close' },
        };
      },
    }),
  ];
}

/** A browser that connects again repeats its first address, so the header counts. */
function cursorOf(header: string | undefined, query: string | undefined): bigint | undefined {
  const text = header === undefined || header === '' ? query : header;
  if (text === undefined) return undefined;
  if (!POSITION.test(text)) throw new ApiError('bad_request', 'Last-Event-ID: must be a position in the log');
  return BigInt(text);
}
