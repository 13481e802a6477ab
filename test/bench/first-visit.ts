import type { Page } from 'playwright-core';
import { chromiumPath, launchChromium } from '../support/chromium.js';
import { freePort } from '../support/free-port.js';
import type { BenchRun } from './bench-run.js';
import { startProgram } from './child-process.js';
import type { GoalMeasure } from './goal-measure.js';
import type { Found } from './goal-row.js';
import type { GoalId } from './goals.js';
import { rounded } from './statistics.js';

const PROGRAM = new URL('../../src/main.js', import.meta.url);
const USABLE_WITHIN_MS = 60_000;
const NO_CHROMIUM = 'there is no Chromium (TEST_CHROMIUM)';

/** A page, and what a person waits for on it. */
interface Visited {
  readonly path: string;
  readonly isSignedIn: boolean;
  /** Uses the page as soon as that is possible. */
  use(page: Page): Promise<void>;
}

const PAGES = {
  'console-first-visit': {
    path: '/console',
    isSignedIn: true,
    use: (page) => page.locator('search input[type=search]').fill('a call'),
  },
  'sign-in-first-visit': {
    path: '/console',
    isSignedIn: false,
    use: (page) => page.locator('main a.button[href^="./console/sign-in"]').click({ trial: true }),
  },
  'verifier-first-visit': {
    path: '/verify',
    isSignedIn: false,
    use: (page) => page.locator('.drop button').first().click({ trial: true }),
  },
} satisfies Partial<Record<GoalId, Visited>>;

type PageId = keyof typeof PAGES;
const IDS = Object.keys(PAGES) as PageId[];

/** From the navigation of a browser that has never seen the service until a person can use the page. */
export const firstVisit: GoalMeasure = {
  goals: IDS,
  async measure(run): Promise<ReadonlyMap<GoalId, Found>> {
    if (!chromiumPath) return new Map(IDS.map((id) => [id, { notMeasured: NO_CHROMIUM }]));
    const { url, session } = await startSignedIn(run);
    const times = new Map(IDS.map((id) => [id, [] as number[]]));
    // Round by round, so that a busy spell of the machine falls on all of them.
    for (let round = 0; round < run.plan.rounds; round += 1)
      for (const id of IDS) times.get(id)!.push(await visit(url, PAGES[id], session));
    for (const [id, all] of times) run.say(`${id}: ${all.map(rounded).join(', ')} ms`);
    return new Map(IDS.map((id) => [id, { rounds: times.get(id)! }]));
  },
};

/** A service with its first Owner signed in by the link that its start printed. */
async function startSignedIn(run: BenchRun): Promise<{ readonly url: string; readonly session: string }> {
  const { environment } = await run.openEngine('embedded');
  const port = String(await freePort());
  const program = await startProgram(PROGRAM, { ...environment, PORT: port, PLUGIN_PORT: '0', LOG_LEVEL: 'error' });
  run.onClose(() => program.stop());
  const link = /http:\S+\/console\/first-look\?token=\S+/.exec(program.printed)?.[0];
  if (!link) throw new Error('the start printed no link that signs the first Owner in');
  const { headers } = await fetch(link, { redirect: 'manual' });
  const session = /archivist-session=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
  if (!session) throw new Error('the link of the start opened no session');
  return { url: new URL(link).origin, session };
}

/** Milliseconds, in a browser and a profile of its own, so that nothing is kept of an earlier visit. */
async function visit(url: string, { path, isSignedIn, use }: Visited, session: string) {
  const browser = await launchChromium();
  try {
    const context = await browser.newContext();
    if (isSignedIn)
      await context.addCookies([
        { name: 'archivist-session', value: session, url, httpOnly: true, sameSite: 'Strict' },
      ]);
    const page = await context.newPage();
    page.setDefaultTimeout(USABLE_WITHIN_MS);
    const begun = performance.now();
    await page.goto(url + path, { waitUntil: 'commit' });
    await use(page);
    return performance.now() - begun;
  } finally {
    await browser.close();
  }
}
