import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { PeopleRig } from '../api/people-rig.js';
import { type OpenPage, pageRig } from './page-rig.js';

/** How a person comes to the console. */
export interface Visit {
  readonly query?: string;
  /** The session's cookie; empty for nobody. */
  readonly session?: string | undefined;
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly timezoneId?: string;
  /** Requests with these statuses are what the test is about. */
  readonly refused?: RegExp;
}

/** A browser for the console of a service. */
export interface ConsoleBrowser {
  file(name: string, content: string | Uint8Array): string;
  /** Opens the console, and closes it when the check has ended. A complaint of the browser fails the test. */
  visit(check: (open: OpenPage, page: Page) => Promise<void>, wanted: Visit): Promise<void>;
  close(): Promise<void>;
}

/** The session of a person who has just joined and signed in. */
export async function sessionOf(rig: PeopleRig, account: string, roles: readonly string[] = []): Promise<string> {
  const { browser } = await rig.join(account, roles);
  return /archivist-session=([^;]+)/.exec(browser.cookies(rig.url))![1]!;
}

export async function consoleBrowser(url: string): Promise<ConsoleBrowser> {
  const rig = await pageRig();
  return {
    file: rig.file,
    async visit(check, wanted) {
      const {
        query = '',
        session = '',
        colorScheme = 'light',
        width = 1000,
        timezoneId,
        refused = /status of 40[134]/,
      } = wanted;
      const cookie = { name: 'archivist-session', value: session, domain: '127.0.0.1', path: '/', expires: -1 };
      const cookies = [{ ...cookie, httpOnly: true, secure: false, sameSite: 'Strict' as const }];
      const open = await rig.open(`${url}/console${query}`, {
        storageState: { cookies: session === '' ? [] : cookies, origins: [] },
        viewport: { width, height: 900 },
        colorScheme,
        ...(timezoneId && { timezoneId }),
      });
      open.page.setDefaultTimeout(60_000);
      try {
        await check(open, open.page);
        const complaints = open.complaints.filter((each) => !each.startsWith(url));
        // Chromium reports each refused request; those that a test provokes are what it checks.
        if (session !== '') expect(complaints.filter((each) => !refused.test(each))).toEqual([]);
      } finally {
        await open.close();
      }
    },
    close: rig.close,
  };
}
