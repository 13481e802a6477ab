import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RunningProcess } from '../faults/deployment.js';
import { processFigures } from './process-figures.js';
import type { Life } from './soak-life.js';
import type { EngineResults } from './soak-results.js';

/** How the databases of a soak are treated. */
export interface Plan {
  readonly databases: number;
  /** After so many kills everything is checked, and a database ends. */
  readonly kills: number;
  /** After each so many, the logs are drained and audited, with some of the proofs that were seen before. */
  readonly auditEvery: number;
  readonly longestUptimeMs: number;
}

const SHORTEST_UPTIME_MS = 300;
const LONGEST_START_MS = 1_500;
/** Every so many kills, beginning at a number of its own, so that no two of them always meet. */
const EVERY = { rotate: 17, crash: 7, start: 5 } as const;
/** A dead sequencer holds its leases for a while: most kills find the next one at work, a few find it waiting. */
const LEASES_HELD = 0.25;
const CLIENTS = 3;
/** Of each client: what is acknowledged must also be checked, several times, and a kill should not wait for that. */
const LONGEST_PAUSE_MS = 600;
/** What is looked at after each kill: the newest events, and proofs and other things of any age. */
const GLANCE = { newest: 12, proofs: 6, others: 8 } as const;
const PROOFS_AGAIN = 30;
const ROLES = ['seal', 'statement_receipt', 'issuer', 'note', 'token'];
const PROGRAM = fileURLToPath(new URL('../../dist/src/cli/vcon-archivist.js', import.meta.url));

async function timed<T>(counts: EngineResults, name: keyof EngineResults['seconds'], work: Promise<T>): Promise<T> {
  const begun = Date.now();
  return work.finally(() => {
    counts.seconds[name] += (Date.now() - begun) / 1_000;
  });
}

function rotate({ deployment, places }: Life, count: number): Promise<boolean> {
  const env = { PATH: process.env['PATH'] ?? '', KEYS_DIR: join(deployment.folder, 'keys'), PUBLIC_URL: places.url };
  return new Promise((resolve) => {
    const args = [PROGRAM, 'keys', 'rotate', ROLES[count % ROLES.length]!, '--url', places.url];
    execFile(process.execPath, args, { env }, (error) => resolve(error === null));
  });
}

/** A stream of everything, then a kill at any moment of it. */
async function killUnderLoad(life: Life, running: RunningProcess, counts: EngineResults, plan: Plan): Promise<void> {
  const events = life.journal.stream(running.url, CLIENTS, { longestPauseMs: LONGEST_PAUSE_MS });
  const streaming = Promise.all([events, life.load.stream(life.places)]);
  streaming.catch(() => undefined);
  await wait(SHORTEST_UPTIME_MS + Math.random() * (plan.longestUptimeMs - SHORTEST_UPTIME_MS));
  const { postgres, redis } = life.servers;
  if (postgres && counts.kills % EVERY.crash === 3) {
    await postgres.crash();
    counts.databaseCrashes += 1;
  }
  if (redis && counts.kills % EVERY.crash === 5) {
    await redis.crash();
    counts.redisCrashes += 1;
  }
  if (counts.kills % EVERY.rotate === EVERY.rotate - 1 && (await rotate(life, counts.keyRotations)))
    counts.keyRotations += 1;
  await running.kill();
  counts.kills += 1;
  await streaming;
}

/** Starts the service; some of its starts are killed as well, at any moment of them. */
async function startAgain(life: Life, counts: EngineResults, plan: Plan): Promise<RunningProcess> {
  if (counts.kills % EVERY.start === 1) {
    const starting = life.spawn();
    starting.ready.catch(() => undefined);
    await wait(Math.random() * Math.min(LONGEST_START_MS, plan.longestUptimeMs));
    await starting.kill();
    counts.kills += 1;
    counts.killsOfAStart += 1;
  }
  if (Math.random() > LEASES_HELD) await life.deployment.expireLeases();
  const running = await life.start();
  life.starts.push(await processFigures(running.pid, join(life.deployment.folder, 'main')));
  return running;
}

/** What can be seen at once; every fault that it misses is still there for the next audit. */
async function glance(life: Life): Promise<void> {
  await life.journal.sendAgain(life.places.url);
  await life.follower.glance(life.places.url, GLANCE.newest, GLANCE.proofs);
  await life.load.findSome(life.places, GLANCE.others);
}

/** Waits until the logs are drained, then checks them and what was acknowledged: some of what was checked before, or all. */
async function audit(life: Life, counts: EngineResults, again?: number): Promise<void> {
  await life.deployment.expireLeases();
  await life.follower.audit(life.places.url, again);
  if (again === undefined) await life.load.findAll(life.places);
  counts.audits += 1;
}

/**
 * One database from its first event to its last check, of everything that was acknowledged and every proof ever fetched.
 * @param until when it ends early, in milliseconds since 1970
 */
export async function live(life: Life, counts: EngineResults, plan: Plan, until: number): Promise<void> {
  const before = counts.kills;
  let running = await life.start();
  let audited = before;
  while (counts.kills - before < plan.kills && Date.now() < until) {
    await timed(counts, 'load', killUnderLoad(life, running, counts, plan));
    running = await timed(counts, 'starts', startAgain(life, counts, plan));
    await timed(counts, 'checks', glance(life));
    if (counts.kills - audited < plan.auditEvery || counts.kills - before >= plan.kills) continue;
    audited = counts.kills;
    await timed(counts, 'audits', audit(life, counts, PROOFS_AGAIN));
    process.stderr.write(`${new Date().toISOString()} ${counts.engine}: ${counts.kills} kills\n`);
  }
  await timed(counts, 'audits', audit(life, counts));
  await running.stop();
}
