/** The service refuses this event permanently: retrying it unchanged cannot help. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A temporary failure: the service is down, busy, or does not accept the credentials yet. */
export class DeliverLater extends Error {
  override readonly name = 'DeliverLater';
  /** How long the service asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Of the response, if there was one. */
  readonly status: number | undefined;
  /** The service itself answered so, and not a proxy before it. */
  readonly isOfService: boolean;

  constructor(message: string, retryAfterMs?: number, status?: number, isOfService = false) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.status = status;
    this.isOfService = isOfService;
  }
}

/** The failure for a request without a response that could be read. */
export function noAnswer(what: string, error: unknown): DeliverLater {
  return new DeliverLater(`${what}: ${reasonOf(error)}`);
}

/** `fetch` hides the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const cause = error.cause as { code?: unknown } | undefined;
  if (typeof cause?.code === 'string') return cause.code;
  // Newer releases of Node give no code for a response that is not HTTP.
  return error.name === 'TimeoutError' ? 'no answer in time' : 'the answer cannot be read';
}

/**
 * Statuses that blame the event itself (docs/design/README.md#one-operation), if the service says so: a proxy before it
 * answers 404 or 400 while it has nothing behind it. All others may be temporary.
 */
const REFUSALS = [400, 404, 409, 413, 422];
/** Longer than any of our descriptions: only responses of something else are cut. */
const MAX_REASON_LENGTH = 16_384;

/** The body of an error response. */
export interface ErrorBody {
  readonly error?: unknown;
  readonly description?: unknown;
  /** What gateways of gRPC services, such as that of the original, have in its place. */
  readonly code?: unknown;
}

/** The failure for an unsuccessful response. Reads the body. */
export async function failureOf(response: Response, what: string, nowMs: number): Promise<EventRefused | DeliverLater> {
  const text = await response.text().catch(() => '');
  return failureFrom(response.status, errorBody(text), what, retryAfter(response.headers.get('retry-after'), nowMs));
}

/** A proxy's error response is not JSON, but still says why. */
function errorBody(text: string): ErrorBody | null {
  try {
    return JSON.parse(text) as ErrorBody | null;
  } catch {
    return { description: text.trim() };
  }
}

/** The failure for a status and its error body. */
export function failureFrom(
  status: number,
  body: ErrorBody | null,
  what: string,
  retryAfterMs?: number,
): EventRefused | DeliverLater {
  const said = [body?.error, body?.description].filter((part) => typeof part === 'string').join(': ');
  const reason = `${what}: ${status} ${said}`.trimEnd().slice(0, MAX_REASON_LENGTH);
  const isOfService = typeof body?.error === 'string' || typeof body?.code === 'number';
  return isOfService && REFUSALS.includes(status)
    ? new EventRefused(status, reason)
    : new DeliverLater(reason, retryAfterMs, status, isOfService);
}

/** The wait in a Retry-After header (RFC 9110 section 10.2.3), as seconds or a date, in milliseconds. */
export function retryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
