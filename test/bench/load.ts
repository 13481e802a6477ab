import { setTimeout as wait } from 'node:timers/promises';
import { IN_FLIGHT } from './bench-plan.js';
import type { HttpClient } from './http-client.js';
import { templateEventBody } from './template-event.js';

/** Where the events of a load go, and in whose name. */
export interface LoadTarget {
  readonly client: HttpClient;
  readonly headers: Readonly<Record<string, string>>;
  readonly assets: readonly { readonly assetId: string; readonly subject: string }[];
}

/** A post that was answered with success. Times in milliseconds of one clock that only grows. */
export interface AcceptedPost {
  /** `assets/<uuid>/events/<uuid>` */
  readonly identity: string;
  readonly scheduledAt: number;
  readonly answeredAt: number;
}

export interface LoadResult {
  readonly accepted: AcceptedPost[];
  /** Answered with another status than 200, or not at all. */
  readonly refused: number;
  /** From the first arrival to the last answer. */
  readonly seconds: number;
}

export interface Load {
  /** Arrivals per second. */
  readonly perSecond: number;
  readonly seconds: number;
  /** What arrives while every place is taken is given up when the time ends, instead of being sent late. */
  readonly giveUpLate?: boolean;
  /** Called for every success, at once. */
  readonly onAccepted?: (post: AcceptedPost) => void;
}

const TICK_MS = 2;
/** The longest wait for answers after the last arrival. */
const SETTLES_WITHIN_MS = 60_000;

/**
 * Posts events at times that are fixed beforehand, whatever the answers do (an open loop): a stalled server is charged
 * with every arrival that it kept waiting. At most `IN_FLIGHT` are under way; later arrivals wait here, on the clock.
 */
export async function runLoad(target: LoadTarget, load: Load): Promise<LoadResult> {
  const accepted: AcceptedPost[] = [];
  const begun = performance.now();
  const total = Math.floor(load.perSecond * load.seconds);
  const ends = begun + load.seconds * 1000;
  let arrivals = 0;
  let underWay = 0;
  let refused = 0;
  let lastAnswer = begun;

  const post = async (scheduledAt: number, number: number): Promise<void> => {
    const identity = await postEvent(target, number).catch(() => undefined);
    const answeredAt = performance.now();
    lastAnswer = answeredAt;
    underWay -= 1;
    if (identity === undefined) refused += 1;
    else {
      const done = { identity, scheduledAt, answeredAt };
      accepted.push(done);
      load.onAccepted?.(done);
    }
    sendDue();
  };
  const sendDue = (): void => {
    const now = performance.now();
    if (load.giveUpLate && now >= ends) arrivals = total;
    const due = Math.min(total, Math.floor(((now - begun) / 1000) * load.perSecond) + 1);
    while (arrivals < due && underWay < IN_FLIGHT) {
      underWay += 1;
      void post(begun + (arrivals * 1000) / load.perSecond, arrivals);
      arrivals += 1;
    }
  };
  while ((arrivals < total || underWay > 0) && performance.now() < ends + SETTLES_WITHIN_MS) {
    sendDue();
    await wait(TICK_MS);
  }
  return { accepted, refused, seconds: (lastAnswer - begun) / 1000 };
}

const IDENTITY = /"identity":"(assets\/[^"]+)"/;
let keys = 0;

/** Posts one event as our delivery does, with an Idempotency-Key; resolves to its identity. */
async function postEvent(target: LoadTarget, number: number): Promise<string | undefined> {
  const { assetId, subject } = target.assets[number % target.assets.length]!;
  keys += 1;
  const { status, bytes } = await target.client.send({
    method: 'POST',
    path: `/archivist/v2/assets/${assetId}/events`,
    headers: {
      ...target.headers,
      'content-type': 'application/json',
      'idempotency-key': `bench-${process.pid}-${keys}`,
    },
    body: templateEventBody(subject),
  });
  return status === 200 ? IDENTITY.exec(bytes.toString('latin1'))?.[1] : undefined;
}
