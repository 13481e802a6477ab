/** The service refuses this event for good: sending it again as it is cannot help. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Not now: the service is away, busy, or does not let us in yet. */
export class DeliverLater extends Error {
  override readonly name = 'DeliverLater';
  /** What the service asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Answers that blame the event itself (docs/design/README.md#one-operation). Every other one may pass with time. */
const REFUSALS = [400, 404, 409, 413, 422];
/** More than any description of ours: only what is no answer of a service is cut. */
const MAX_REASON_LENGTH = 16_384;

/** What the service says of a request that it does not fulfil. */
export interface ErrorBody {
  readonly error?: unknown;
  readonly description?: unknown;
}

/** The failure that an answer other than success stands for. Reads the body. */
export async function failureOf(response: Response, what: string, nowMs: number): Promise<EventRefused | DeliverLater> {
  const text = await response.text().catch(() => '');
  return failureFrom(response.status, errorBody(text), what, retryAfter(response.headers.get('retry-after'), nowMs));
}

/** A proxy's answer is no JSON, and says why all the same. */
function errorBody(text: string): ErrorBody | null {
  try {
    return JSON.parse(text) as ErrorBody | null;
  } catch {
    return { description: text.trim() };
  }
}

/** The failure that a status and what is said beside it stand for. */
export function failureFrom(
  status: number,
  body: ErrorBody | null,
  what: string,
  retryAfterMs?: number,
): EventRefused | DeliverLater {
  const said = [body?.error, body?.description].filter((part) => typeof part === 'string').join(': ');
  const reason = `${what}: ${status} ${said}`.trimEnd().slice(0, MAX_REASON_LENGTH);
  return REFUSALS.includes(status) ? new EventRefused(status, reason) : new DeliverLater(reason, retryAfterMs);
}

/** Milliseconds that a Retry-After header asks for (RFC 9110 section 10.2.3): seconds, or a date. */
export function retryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
