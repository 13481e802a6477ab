import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { decodeCbor, encodeCbor } from '../../src/core/cose/cbor.js';
import type { BenchPlan } from './bench-plan.js';
import { closedLoop, getRequest, postRequest } from './closed-loop.js';
import { copiedRowsMicros } from './copied-rows.js';
import { durableFloor } from './durable-floor.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import { rawVerifies } from './raw-signatures.js';
import { newStatements } from './registration-figures.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { percentile, rounded } from './statistics.js';

/** The statement; the batch with its lease and its seal; the seal under its number; the log's row. */
const DURABLE_STEPS = { commits: 3, files: 1 };
const TOGETHER = 64;
/** What a registration leaves behind: two events, its statement and three leaves. */
const ROWS_OF_A_REGISTRATION = ['registration', 'asset_event', 'statement', 'leaf', 'node_page'];
/** Statements of one bulk request, and how many such requests are under way. */
const BULK = 1_000;
const BULKS_AT_ONCE = 2;
/** Statements that are signed before a round; if a service is faster, the others are signed in it. */
const SUPPLY_PER_SECOND = 3_000;
const MAX_ANSWER = 8 * 1024 * 1024;

/** Registrations that are answered with their receipt, one at a time, many at once and in bulk; and receipts read again. */
export const waysToReceipts: GoalMeasure = {
  goals: [
    'registration-time-postgresql',
    'registration-time-embedded',
    'registrations-postgresql',
    'registrations-embedded',
    'bulk-registrations',
    'receipts-over-http',
  ],
  async measure(run) {
    const services: (ServiceUnderTest & { readonly databaseUrl: string | undefined })[] = [];
    const floors = new Map<GoalId, Finding['floor']>();
    for (const name of run.engines) {
      const engine = await run.openEngine(name);
      services.push({ ...(await run.startOn(engine)), databaseUrl: engine.environment['DATABASE_URL'] });
      floors.set(`registration-time-${name}`, await durableFloor(engine, DURABLE_STEPS));
    }
    const rounds = new Map<GoalId, number[]>();
    const add = (id: GoalId, figure: number, of: ServiceUnderTest): void => {
      rounds.set(id, [...(rounds.get(id) ?? []), figure]);
      run.say(`${of.engine}: ${id} ${rounded(figure)}`);
    };
    for (const service of services) await registrations(service, TOGETHER, run.plan.warmUpSeconds);
    for (let round = 0; round < run.plan.rounds; round += 1)
      for (const service of services) {
        const alone = await registrations(service, 1, run.plan.roundSeconds / 2);
        add(`registration-time-${service.engine}`, percentile(alone.times, 0.5), service);
        const together = await registrations(service, TOGETHER, run.plan.roundSeconds);
        add(`registrations-${service.engine}`, together.perSecond, service);
        // The faster engine that there is.
        if (service !== services.at(-1)) continue;
        add('bulk-registrations', await bulk(service, run.plan), service);
        add('receipts-over-http', await warmReceipts(service, run.plan.roundSeconds), service);
      }
    for (const { engine, databaseUrl } of services) {
      const floor = await verificationAndRows(databaseUrl);
      floors.set(`registrations-${engine}`, floor);
      floors.set('bulk-registrations', floor);
    }
    return new Map([...rounds].map(([id, each]) => [id, { rounds: each, floor: floors.get(id) }]));
  },
};

/** What bounds the rate of registrations if nothing else is done. @param databaseUrl undefined on the embedded engine */
async function verificationAndRows(databaseUrl: string | undefined): Promise<Finding['floor']> {
  const verification = 1e6 / rawVerifies();
  const rows = databaseUrl && (await copiedRowsMicros(databaseUrl, 'registration', ROWS_OF_A_REGISTRATION));
  const processors = availableParallelism();
  const figure = (processors * 1e6) / (verification + (rows || 0));
  const storing = rows ? `, and the server for a registration's rows and their indexes (${Math.round(rows)} µs)` : '';
  const why = `registrations/s if ${processors} processors worked only for an ES256 verification each (${Math.round(verification)} µs)${storing}`;
  return { figure, why };
}

async function registrations({ url, headers }: ServiceUnderTest, connections: number, seconds: number) {
  const all = { ...headers, 'content-type': 'application/cose', prefer: 'wait=20' };
  const requests = (count: number) => newStatements(count).map((body) => postRequest('/entries', all, body));
  const supply = requests(Math.ceil(connections === 1 ? 100 : SUPPLY_PER_SECOND * seconds));
  const loop = await closedLoop(url, { connections, seconds, expected: 201 }, () => supply.pop() ?? requests(1)[0]!);
  if (loop.refused > 0) throw new Error(`${loop.refused} registrations were answered without a receipt`);
  return loop;
}

/** Per second, until the last is answered with its receipt. */
async function bulk({ reader, headers }: ServiceUnderTest, { bulkEvents }: BenchPlan): Promise<number> {
  const bodies = Array.from({ length: Math.ceil(bulkEvents / BULK) }, () => encodeCbor(newStatements(BULK)));
  const count = bodies.length * BULK;
  const all = { ...headers, 'content-type': 'application/cbor', prefer: 'wait=20' };
  const answers: Buffer[] = [];
  const send = async (): Promise<void> => {
    for (let body = bodies.pop(); body; body = bodies.pop()) {
      const { status, bytes } = await reader.send({ method: 'POST', path: '/entries:bulk', headers: all, body });
      if (status !== 200) throw new Error(`a bulk registration was answered with ${status}`);
      answers.push(bytes);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: BULKS_AT_ONCE }, send));
  const took = performance.now() - begun;
  const receipts = answers.flatMap((bytes) => decodeCbor(bytes, { maxBytes: MAX_ANSWER }) as Map<string, unknown>[]);
  if (!receipts.every((result) => result.get('status') === 201)) throw new Error('a statement has no receipt');
  return (count * 1000) / took;
}

/** Per second, of entries whose receipts were read before, over one pool of connections. */
async function warmReceipts(service: ServiceUnderTest, seconds: number): Promise<number> {
  const { reader, headers, url } = service;
  const all = { ...headers, 'content-type': 'application/cose', prefer: 'wait=20' };
  const paths = await Promise.all(
    newStatements(100).map(async (body) => {
      const { location } = await reader.send({ method: 'POST', path: '/entries', headers: all, body });
      return new URL(location!).pathname;
    }),
  );
  const { perSecond, refused } = await closedLoop(url, { connections: TOGETHER, seconds }, () =>
    getRequest(paths[randomInt(paths.length)]!),
  );
  if (refused > 0) throw new Error(`${refused} receipts were not answered`);
  return perSecond;
}
