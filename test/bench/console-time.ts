import {
  FOUND_AT_ONCE,
  laterPage,
  readQuery,
  type Source,
  sourcesOf,
  sourcesOfSubject,
} from '../../src/console/search-query.js';
import { BULK } from './bulk-client.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Finding } from './goal-row.js';
import type { GoalId } from './goals.js';
import { record } from './logged-events.js';
import type { ServiceUnderTest } from './service-under-test.js';
import { percentile, rounded } from './statistics.js';

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

/** What a page of the console asks for. */
interface Asked {
  readonly name: string;
  readonly sources: readonly Source[];
  /** Also the pages after the first ones, which the console shows later. */
  readonly toTheEnd?: true;
}

/** Milliseconds until all requests of a page are answered, by page. */
async function pageTimes(service: ServiceUnderTest, rounds: number): Promise<Map<string, number[]>> {
  const { subject } = service.target.assets[0]!;
  const search = (text: string) => sourcesOf({ ...NOTHING, text }, FOUND_AT_ONCE);
  const pages: readonly Asked[] = [
    { name: 'a conversation', sources: sourcesOfSubject(subject, true) },
    { name: 'a conversation to its end', sources: sourcesOfSubject(subject, true), toTheEnd: true },
    { name: 'the newest events', sources: search('') },
    { name: 'a search for an id', sources: search(subject) },
    { name: 'a search for a name', sources: search('serial 7') },
    { name: 'a search for labels', sources: search('bench_share=none') },
    { name: 'a search for a file', sources: search('ab'.repeat(32)) },
  ];
  const times = new Map(pages.map(({ name }) => [name, [] as number[]]));
  // Round by round, so that a busy spell of the machine falls on all of them.
  for (let round = -1; round < rounds; round += 1)
    for (const { name, sources, toTheEnd } of pages) {
      const begun = performance.now();
      await Promise.all(sources.map((source) => (toTheEnd ? askAll(service, source) : ask(service, source.path))));
      if (round >= 0) times.get(name)!.push(performance.now() - begun);
    }
  return times;
}

async function askAll(service: ServiceUnderTest, source: Source): Promise<void> {
  for (let path: string | undefined = source.path; path !== undefined; ) {
    const { next_page_token: token } = JSON.parse(await ask(service, path)) as { next_page_token?: string };
    path = token ? laterPage(source, token) : undefined;
  }
}

async function ask({ reader, headers }: ServiceUnderTest, path: string): Promise<string> {
  const { status, bytes } = await reader.send({ method: 'GET', path, headers });
  // One id may be that of several kinds of things; most of them do not exist.
  if (![200, 206, 404].includes(status)) throw new Error(`${path} answered ${status}`);
  return bytes.toString('utf8');
}
