import { connect } from 'node:net';
import { durationMs, type HealthCheck, nowMs } from './health-checks.js';
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

/** What came of one rude behaviour; times in Unix milliseconds. */
export interface Behaved {
  readonly name: string;
  readonly ending: Ending;
  readonly begunMs: number;
  readonly endedMs: number;
}

/** Behaves in every rude way, many at once. */
export async function behaveRudely(url: string, behaviours: readonly RudeBehaviour[]): Promise<readonly Behaved[]> {
  const rows: Behaved[] = [];
  const open = [...behaviours];
  const some = async () => {
    for (let row = open.shift(); row; row = open.shift()) {
      const begunMs = nowMs();
      const ending = await behave(url, row);
      rows.push({ name: row.name, ending, begunMs, endedMs: nowMs() });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
  return rows;
}

/** The checks beside a behaviour, and the one after it: some behaviours are over between two checks. */
export function checksBeside({ begunMs, endedMs }: Behaved, checks: readonly HealthCheck[]): readonly HealthCheck[] {
  const next = checks.find((each) => each.begunMs > endedMs);
  return checks.filter((each) => each === next || (each.endedMs >= begunMs && each.begunMs <= endedMs));
}

/** The slowest of these checks, in milliseconds. */
export const slowestMs = (checks: readonly HealthCheck[]): number => Math.max(...checks.map(durationMs));
