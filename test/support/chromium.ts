import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The engine without a browser's own windows comes first: the same pages cost it half the processor time. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The browser in which pages are tested and measured, if there is one. */
export const chromiumPath = process.env['TEST_CHROMIUM'] ?? PATHS.find(existsSync);

/** It runs in containers too, and asks for nothing that no page asked for. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];

/** Starts a browser with a profile of its own. @throws {Error} if no Chromium is installed */
export function launchChromium(...more: readonly string[]): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium');
  return chromium.launch({ executablePath: chromiumPath, args: [...ARGUMENTS, ...more] });
}
