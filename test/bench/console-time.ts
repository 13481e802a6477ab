import { readQuery, type Source, sourcesOf, sourcesOfSubject } from '../../src/console/search-query.js';
import { BULK } from './bulk-client.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import { record } from './logged-events.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { percentile, rounded } from './statistics.js';

/** Events that the console shows of a search at once, and of a conversation. */
const PAGE = 25;
const TIMELINE = 1000;
const NOTHING = readQuery(new URLSearchParams());

/** Asks a large tenancy for what pages of the console show: the searches of a person, and a conversation. */
export const consoleTime: GoalMeasure = {
  goals: ['console-time-postgresql', 'console-time-embedded'],
  async measure(run) {
    const found = new Map<GoalId, Finding>();
    const [, size] = run.plan.tenancySizes;
    for (const name of run.engines) {
      const service = await run.startOn(await run.openEngine(name));
      for (let made = 0; made < size; made += BULK * 5) await record(service, Math.min(BULK * 5, size - made));
      const times = await pageTimes(service, run.plan.queryRounds);
      for (const [page, all] of times) run.say(`${name}: ${page} after p50 ${rounded(percentile(all, 0.5))} ms`);
      const slowest = [...times.values()].sort((left, right) => percentile(right, 0.5) - percentile(left, 0.5))[0]!;
      found.set(`console-time-${name}`, { rounds: slowest });
    }
    return found;
  },
};

/** Milliseconds until all requests of a page are answered, by page. */
async function pageTimes(service: ServiceUnderTest, rounds: number): Promise<Map<string, number[]>> {
  const { subject } = service.target.assets[0]!;
  const search = (text: string) => sourcesOf({ ...NOTHING, text }, PAGE);
  const pages: readonly (readonly [string, readonly Source[]])[] = [
    ['a conversation', sourcesOfSubject(subject, true, TIMELINE)],
    ['the newest events', search('')],
    ['a search for an id', search(subject)],
    ['a search for a name', search('serial 7')],
    ['a search for labels', search('bench_share=none')],
    ['a search for a file', search('ab'.repeat(32))],
  ];
  const times = new Map(pages.map(([page]) => [page, [] as number[]]));
  // Round by round, so that a busy spell of the machine falls on all of them.
  for (let round = -1; round < rounds; round += 1)
    for (const [page, sources] of pages) {
      const begun = performance.now();
      await Promise.all(sources.map((source) => ask(service, source)));
      if (round >= 0) times.get(page)!.push(performance.now() - begun);
    }
  return times;
}

async function ask({ reader, headers }: ServiceUnderTest, { path }: Source): Promise<void> {
  const { status } = await reader.send({ method: 'GET', path, headers });
  // One id may be that of several kinds of things; most of them do not exist.
  if (![200, 206, 404].includes(status)) throw new Error(`${path} answered ${status}`);
}
