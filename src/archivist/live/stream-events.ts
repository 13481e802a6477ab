import { Readable } from 'node:stream';
import { idtimestampMs } from '../../core/massif/idtimestamp.js';
import { leafRange } from '../../ledger/leaf-store.js';
import { tenancyLog } from '../../ledger/log.js';
import type { FollowedGrowth, LogGrowth } from '../../ledger/log-growth.js';
import { publishedLeaves } from '../../ledger/published-leaves-store.js';
import type { Clock } from '../../platform/clock.js';
import { ApiError, retryLater } from '../../platform/errors.js';
import { errorBody, refusalOf } from '../../platform/http/error-reply.js';
import { eventFrame, idleFrame } from '../../platform/http/event-frame.js';
import type { Principal } from '../../platform/http/principal.js';
import { inPieces } from '../../platform/in-pieces.js';
import type { Logger } from '../../platform/logger.js';
import type { Database } from '../../platform/postgres/database.js';
import type { Deployment } from '../deployment.js';
import { type EventPage, readEventPage } from './read-event-page.js';

/** A stream resumes after events that were committed at most this long ago. */
const RESUMES_MS = 7 * 24 * 3600 * 1000;
/** Proxies close connections on which nothing moves, often after a minute. */
const IDLE_MS = 15_000;
/** Streams of one principal in one process at once. */
const MOST_STREAMS = 16;
const RETRY_SECONDS = 5;
/** When clients connect again after a stream has ended. */
const RECONNECT_MS = 2_000;

export interface EventStreamDeps {
  readonly database: Database;
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly growth: LogGrowth;
  /** How long a stream without news is silent; 15 seconds unless told. */
  readonly idleMs?: number;
}

interface StreamRequest {
  readonly principal: Principal;
  /** The last position that the client has received; undefined to begin with what is published next. */
  readonly cursor: bigint | undefined;
  /** The stream ends after so many seconds; 0 ends it when everything published was sent. */
  readonly seconds: number | undefined;
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal;
  /** Identifies the caller again. @throws {ApiError} when its token or session has ended */
  identify(): Promise<Principal>;
}

/** Opens streams. @throws {ApiError} bad_request, gone, rate_limited */
export type OpenEventStream = (request: StreamRequest) => Promise<Readable>;

/**
 * Streams the events of a tenancy as they are published, in the order of its log, each to those who may read it when it
 * is sent. Nothing is read ahead of a slow client. Readers of one principal that wait for the same position share a read
 * and its text.
 */
export function createEventStreams(deps: EventStreamDeps): OpenEventStream {
  const open = new Map<string, number>();
  const underWay = new Map<string, Promise<FramedPage>>();

  function sharedPage(principal: Principal, after: bigint): Promise<FramedPage> {
    const key = `${after} ${JSON.stringify(principal)}`;
    const known = underWay.get(key);
    if (known) return known;
    const page = framedPage(deps, principal, after).finally(() => underWay.delete(key));
    underWay.set(key, page);
    return page;
  }

  /** Takes one of the principal's places before anything is awaited; returns a function that gives it back. */
  function takePlace({ tenantId, issuer, subject }: Principal): () => void {
    const name = `${tenantId} ${issuer} ${subject}`;
    const count = open.get(name) ?? 0;
    if (count >= MOST_STREAMS)
      throw retryLater(
        'rate_limited',
        `This identity has ${MOST_STREAMS} open streams, the most at once. Close one, then try again.`,
        RETRY_SECONDS,
      );
    open.set(name, count + 1);
    return () => {
      const rest = open.get(name)! - 1;
      if (rest > 0) open.set(name, rest);
      else open.delete(name);
    };
  }

  return async ({ principal, seconds, gone, identify, ...request }) => {
    const giveBack = takePlace(principal);
    const cursor = await firstCursor(deps, principal, request.cursor).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    const growth = deps.growth.follow(tenancyLog(principal.tenantId));
    const frames = framesOf(deps, { cursor, seconds, gone, identify, growth, page: sharedPage });
    gone.addEventListener('abort', growth.end);
    return Readable.from(frames).once('close', () => {
      // The signal is the connection's, which may be kept for many more streams.
      gone.removeEventListener('abort', growth.end);
      growth.end();
      giveBack();
    });
  };
}

/** The position before the first one to be sent. */
async function firstCursor(
  { database, clock }: EventStreamDeps,
  { tenantId }: Principal,
  cursor: bigint | undefined,
): Promise<bigint> {
  const log = tenancyLog(tenantId);
  const { end, next } = await database.inTransaction({ read: [tenantId], write: [] }, async (tx) => ({
    end: (await publishedLeaves(tx, [log])).get(log.logId) ?? 0n,
    next: cursor === undefined ? undefined : (await leafRange(tx, log, cursor + 1n, cursor + 2n))[0],
  }));
  if (cursor === undefined) return end - 1n;
  if (cursor >= end)
    throw new ApiError(
      'bad_request',
      `cursor: the log has no published position ${cursor}; the last one is ${end - 1n}`,
    );
  if (next && idtimestampMs(next.idtimestamp) < clock.now() - RESUMES_MS)
    throw new ApiError(
      'gone',
      `cursor: the event after position ${cursor} is older than seven days. Open the stream without a cursor, then read the lists of events for what was missed.`,
    );
  return cursor;
}

/** A page as the text of its messages. */
interface FramedPage extends Pick<EventPage, 'last' | 'more'> {
  readonly frames: readonly string[];
}

async function framedPage(deps: EventStreamDeps, principal: Principal, after: bigint): Promise<FramedPage> {
  const { events, last, more } = await readEventPage(deps, principal, after);
  const frames = await inPieces(events, ({ position, name, json }) =>
    eventFrame({ id: String(position), event: name, data: json }),
  );
  return { frames, last, more };
}

interface StreamState {
  readonly cursor: bigint;
  readonly seconds: number | undefined;
  readonly growth: FollowedGrowth;
  readonly gone: AbortSignal;
  identify(): Promise<Principal>;
  page(principal: Principal, after: bigint): Promise<FramedPage>;
}

async function* framesOf(deps: EventStreamDeps, stream: StreamState): AsyncGenerator<string> {
  const endsAt = stream.seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + stream.seconds * 1000;
  const idleMs = deps.idleMs ?? IDLE_MS;
  let cursor = stream.cursor;
  const data = { position: String(cursor) };
  yield eventFrame({ id: String(cursor), event: 'position', data, retry: RECONNECT_MS });
  try {
    for (;;) {
      // A right that was lost since the last page counts at once.
      const { frames, last, more } = await stream.page(await stream.identify(), cursor);
      yield* frames;
      cursor = last;
      if (more) continue;
      const rest = endsAt - performance.now();
      if (rest <= 0 || deps.growth.isClosed) return;
      const published = await stream.growth.beyond(cursor + 1n, Math.min(idleMs, rest));
      if (deps.growth.isClosed) return;
      if (published <= cursor + 1n) yield idleFrame(String(cursor));
    }
  } catch (error) {
    // A response that is closed while it is written to throws here too.
    if (stream.gone.aborted) return;
    yield eventFrame({ event: 'end', data: errorBody(refusal(deps, error)) });
  }
}

function refusal({ logger }: EventStreamDeps, error: unknown): ApiError {
  const known = refusalOf(error);
  if (known) return known;
  logger.error({ err: error }, 'a stream of events failed');
  return new ApiError('internal', 'The service failed; connect again.');
}
