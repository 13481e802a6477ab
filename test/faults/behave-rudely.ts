import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { RudeBehaviour } from './rude-behaviours.js';

/** Longer than any limit of the service: headers have ten seconds, a stalled body at most twenty. */
const ENDS_WITHIN_MS = 45_000;
const DRIP_EVERY_MS = 250;
const POURED = Buffer.alloc(256 * 1024);
/** Longer than the time in which a response must advance. */
const SIPS_MS = 33_000;
/** A caller that is not closed on is gone after so long. */
const PATIENCE_MS = 5_000;
const AT_ONCE = 24;
const ASK_EVERY_MS = 20;
/** A readiness check asks the database. */
const READINESS_EVERY = 10;

interface Ending {
  /** 0 without an answer. */
  readonly status: number;
  /** The service closed the connection. */
  readonly closed: boolean;
}

/** Behaves, and resolves when the service closes the connection, or when there is nothing more to wait for. */
async function behave(url: string, behaviour: RudeBehaviour): Promise<Ending> {
  const { connections = 1, statuses } = behaviour;
  const endings = await Promise.all(Array.from({ length: connections }, () => behaveOnce(url, behaviour)));
  return endings.find(({ status }) => !statuses.includes(status)) ?? endings[0]!;
}

function behaveOnce(url: string, { bytes, drips, pours, ends, sips, closes = false }: RudeBehaviour): Promise<Ending> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: ends === true });
    const dripping = drips ? setInterval(() => socket.write('x'), DRIP_EVERY_MS) : undefined;
    const pouring = pours ? setInterval(() => socket.write(POURED), DRIP_EVERY_MS) : undefined;
    const sipping = sips ? setInterval(() => add(String(socket.read(1) ?? '')), DRIP_EVERY_MS) : undefined;
    const reading = sips ? setTimeout(() => readRest(), SIPS_MS) : undefined;
    const add = (text: string) => {
      answer += text;
    };
    const finish = (closed: boolean) => {
      clearInterval(dripping);
      clearInterval(pouring);
      clearInterval(sipping);
      clearTimeout(reading);
      clearTimeout(late);
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0), closed });
    };
    const late = setTimeout(() => finish(false), ENDS_WITHIN_MS);
    const readRest = () => {
      clearInterval(sipping);
      socket.on('data', (text: string) => {
        add(text);
        if (!closes) setTimeout(() => finish(false), 100);
      });
    };
    socket.setEncoding('latin1');
    if (!sips) readRest();
    socket
      .on('end', () => finish(true))
      .on('error', () => finish(true))
      .on('close', () => finish(true));
    if (ends) socket.end(bytes);
    else socket.write(bytes);
    if (!closes && !drips && !pours) socket.setTimeout(ENDS_WITHIN_MS - PATIENCE_MS);
  });
}

/** What came of one rude behaviour. */
export interface RudeRow {
  readonly name: string;
  readonly ending: Ending;
  /** Health checks begun beside it, each answered. */
  readonly checks: number;
  /** The slowest of them, in milliseconds. */
  readonly slowestMs: number;
}

interface Check {
  readonly begunMs: number;
  readonly endedMs: number;
}

/** Asks for the health of a service. @throws unless the answer is 200 */
async function check(url: string, path: '/healthz' | '/readyz'): Promise<Check> {
  const begunMs = performance.now();
  const response = await fetch(`${url}${path}`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return { begunMs, endedMs: performance.now() };
}

/**
 * Behaves in every rude way, many at once, and asks beside them all the time whether the service is alive, and now and
 * then whether it is ready.
 * The median of these checks is in milliseconds.
 * @throws when one of these checks is not answered with 200
 */
export async function behaveRudely(
  url: string,
  behaviours: readonly RudeBehaviour[],
): Promise<{ readonly rows: readonly RudeRow[]; readonly medianMs: number }> {
  // The first one loads what it needs here.
  await check(url, '/healthz');
  const checks: Check[] = [];
  let over = false;
  const asking = (async () => {
    for (let number = 0; !over; number += 1) {
      checks.push(await check(url, '/healthz'));
      if (number % READINESS_EVERY === 0) await check(url, '/readyz');
      await wait(ASK_EVERY_MS);
    }
  })();
  const rows: (Check & { readonly name: string; readonly ending: Ending })[] = [];
  const open = [...behaviours];
  const some = async () => {
    for (let row = open.shift(); row; row = open.shift()) {
      const begunMs = performance.now();
      // One more check for each, because some are over between two others.
      const [ending, own] = await Promise.all([behave(url, row), check(url, '/healthz')]);
      checks.push(own);
      rows.push({ name: row.name, ending, begunMs, endedMs: performance.now() });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  over = true;
  await asking;
  const all = checks.map(duration).sort((left, right) => left - right);
  return {
    medianMs: all[Math.floor(all.length / 2)]!,
    rows: rows.map(({ name, ending, ...row }) => {
      const beside = checks.filter((each) => each.endedMs >= row.begunMs && each.begunMs <= row.endedMs);
      return { name, ending, checks: beside.length, slowestMs: Math.max(...beside.map(duration)) };
    }),
  };
}

function duration({ begunMs, endedMs }: Check): number {
  return endedMs - begunMs;
}
