import { existsSync } from 'node:fs';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser in which pages are tested and measured, if there is one. */
export const chromiumPath = process.env['TEST_CHROMIUM'] ?? PATHS.find(existsSync);

/** It runs in containers too, and asks for nothing that no page asked for. */
export const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
];
