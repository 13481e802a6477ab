import { setTimeout as wait } from 'node:timers/promises';
import { sampleDigest, sampleIssuer, sampleStatement } from '../scitt/sample-statement.js';
import { type BenchPlan, IN_FLIGHT, POLL_MS } from './bench-plan.js';
import type { HttpAnswer } from './http-client.js';
import type { Registrations } from './report-registrations.js';
import type { ServiceUnderTest } from './service-under-test.js';

const SETTLED_WITHIN_MS = 180_000;

/**
 * Registers the same number of fresh statements in two ways, in turn: each request waiting for its receipt, and each
 * answered at once with all receipts ready afterwards. Both end when the last receipt is there.
 */
export async function measureRegistrations(
  service: ServiceUnderTest,
  plan: BenchPlan,
  say: (line: string) => void,
): Promise<Registrations> {
  const measured = { synchronous: [] as number[], asynchronous: [] as number[], accepted: [] as number[] };
  say(`${service.engine}: registrations`);
  await synchronousRound(service, newStatements(plan.registrations / 4));
  for (let round = 0; round < plan.rounds; round += 1) {
    measured.synchronous.push(await synchronousRound(service, newStatements(plan.registrations)));
    const { accepted, sealed } = await asynchronousRound(service, newStatements(plan.registrations));
    measured.accepted.push(accepted);
    measured.asynchronous.push(sealed);
  }
  return { engine: service.engine, statements: plan.registrations, inFlight: IN_FLIGHT, ...measured };
}

let made = 0;

/** Statements that no service knows, signed before the clock runs. */
export function newStatements(count: number): Uint8Array[] {
  const issuer = sampleIssuer();
  return Array.from({ length: count }, () => {
    made += 1;
    return sampleStatement(issuer, { payload: sampleDigest(`${process.pid} ${made}`) });
  });
}

/** Per second, until the last is answered with its receipt. */
async function synchronousRound(service: ServiceUnderTest, statements: readonly Uint8Array[]): Promise<number> {
  const begun = performance.now();
  await sendAll(service, statements, 'wait=20', 201);
  return (statements.length * 1000) / (performance.now() - begun);
}

/** Per second, until the last is accepted, and until the last has its receipt. */
async function asynchronousRound(service: ServiceUnderTest, statements: readonly Uint8Array[]) {
  const begun = performance.now();
  const answers = await sendAll(service, statements, 'respond-async', 303);
  const accepted = (statements.length * 1000) / (performance.now() - begun);
  for (const { location } of answers.slice(-IN_FLIGHT)) await untilSealed(service, new URL(location!).pathname);
  return { accepted, sealed: (statements.length * 1000) / (performance.now() - begun) };
}

async function untilSealed({ reader }: ServiceUnderTest, path: string): Promise<void> {
  for (const until = Date.now() + SETTLED_WITHIN_MS; Date.now() < until; await wait(POLL_MS))
    if ((await reader.send({ method: 'GET', path })).status === 200) return;
  throw new Error('a registration did not end');
}

/** As many at once as a load has under way. @throws {Error} when one is answered with another status */
async function sendAll(
  { target, headers }: ServiceUnderTest,
  statements: readonly Uint8Array[],
  prefer: string,
  status: number,
): Promise<HttpAnswer[]> {
  const answers: HttpAnswer[] = [];
  const all = { ...headers, 'content-type': 'application/cose', prefer };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let place = next++; place < statements.length; place = next++) {
      const body = statements[place]!;
      const answer = await target.client.send({ method: 'POST', path: '/entries', headers: all, body });
      if (answer.status !== status) throw new Error(`a registration answered ${answer.status}`);
      answers.push(answer);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return answers;
}
