import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { commandLine } from '../support/command-line.js';

/** The page as the build wrote it. */
export const BUILT_PAGE = fileURLToPath(new URL('../../dist/src/console/verify.html', import.meta.url));
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };

/** Through the elements: the policy of the pages allows no other style sheet. */
const SPACED = `
  for (const { style, localName } of document.querySelectorAll('body *')) {
    Object.assign(style ?? {}, { lineHeight: 1.5, letterSpacing: '0.12em', wordSpacing: '0.16em' });
    if (localName === 'p') style.marginBottom = '2em';
  }
  document.documentElement.scrollWidth - document.documentElement.clientWidth`;

/** A name of this machine that a browser takes for another machine: over plain HTTP it offers no cryptography there. */
export const PLAIN_HOST = 'archivist.test';

/** An answer, as far as page and command line can be compared. */
export interface ShownVerdict {
  readonly outcome: string;
  readonly claims: readonly { readonly kind: string; readonly piece: string; readonly facts: object }[];
  readonly contradictions: readonly { readonly code: string; readonly piece: string }[];
  readonly not_covered: readonly object[];
  readonly missing: readonly object[];
}

/** The page open in a browser, and a folder of files to give it. */
export interface OpenPage {
  readonly page: Page;
  /** Requests beside the page itself, and complaints of the browser: errors, and what a policy forbade. */
  readonly complaints: readonly string[];
  /** Chooses files, as in the browser's dialog. */
  give(...paths: string[]): Promise<void>;
  /** Holds files and folders over the middle of an element. @returns drops them there */
  hold(onto: string, ...paths: string[]): Promise<() => Promise<void>>;
  /** Types the fingerprint. */
  trust(fingerprint: string): Promise<void>;
  /** The title of the answer, once the page has finished checking. */
  outcome(): Promise<string>;
  /** The verdict that the page saves as JSON. */
  verdict(): Promise<ShownVerdict>;
  /** Keeps pictures of the whole page, in both themes and widths, in the folder TEST_SCREENSHOTS, if there is one (`npm run screenshots`). */
  picture(name: string): Promise<void>;
  /** What has the focus: its label or its text; the name of the element if it has neither. */
  focused(): Promise<string>;
  /** How far the page can be scrolled sideways, in pixels, with text as widely spaced as a reader may set it (WCAG 2.2, 1.4.12). */
  sidewaysWhenSpaced(): Promise<number>;
  /** What axe finds, and links and buttons that are called the same and lead elsewhere. */
  barriers(): Promise<string[]>;
  close(): Promise<void>;
}

/** A browser, files, and `verify` of the command line over the same files. */
export async function pageRig() {
  const folder = mkdtempSync(join(tmpdir(), 'verify-page-'));
  const browser = await launchChromium(`--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`);
  return {
    file(name: string, content: string | Uint8Array): string {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    /** Makes a folder with these files in it. */
    folder(name: string, files: Readonly<Record<string, Uint8Array>>): string {
      mkdirSync(join(folder, name));
      for (const [path, content] of Object.entries(files)) this.file(join(name, path), content);
      return join(folder, name);
    },
    /** Opens the page from a disk, or from a service. */
    open: (url = pathToFileURL(BUILT_PAGE).href, options: BrowserContextOptions = {}) =>
      openPage(browser, url, options),
    /** The verdict of the command line on the same files, with the names that they have for the page. */
    async verify(...args: string[]): Promise<ShownVerdict> {
      const { out } = await commandLine(['verify', '--json', ...args]);
      return JSON.parse(out.replaceAll(`${folder}/`, '')) as ShownVerdict;
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Names by which the browser's own accessibility tree calls links that lead to different places, or several buttons: who
 * hears a list of them cannot tell them apart.
 */
async function sharedNames(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  const { nodes } = await client.send('Accessibility.getFullAXTree');
  await client.detach();
  const targets = new Map<string, Set<string>>();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  // The browser itself makes the button in a field for a date.
  const isInDate = (id: string | undefined): boolean => {
    const node = id === undefined ? undefined : byId.get(id);
    return node !== undefined && (node.role?.value === 'Date' || isInDate(node.parentId));
  };
  for (const { ignored, role, name, nodeId, parentId, properties = [] } of nodes) {
    if (ignored || !['link', 'button'].includes(String(role?.value)) || isInDate(parentId)) continue;
    const url = properties.find((property) => property.name === 'url')?.value.value as string | undefined;
    const called = `${role!.value} “${name?.value}”`;
    targets.set(called, (targets.get(called) ?? new Set()).add(url ?? nodeId));
  }
  return [...targets].flatMap(([called, { size }]) => (size === 1 ? [] : [`${size} times ${called}`]));
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<OpenPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== url && !/^(?:data|blob):/.test(request.url())) complaints.push(request.url());
  });
  await page.goto(url);
  // A browser takes no keys before it has painted.
  await page.evaluate('new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))');
  const heading = page.locator('.banner h2');
  const settled = () => page.locator('.result[aria-busy=false]').waitFor();
  return {
    page,
    complaints,
    async give(...paths) {
      await page.locator('input[type=file]').first().setInputFiles(paths);
    },
    async hold(onto, ...paths) {
      const client = await context.newCDPSession(page);
      const element = page.locator(onto);
      await element.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await element.boundingBox())!;
      const data = { items: [], files: paths, dragOperationsMask: 1 };
      const drag = (type: 'dragEnter' | 'dragOver' | 'drop') =>
        client.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
      await drag('dragEnter');
      await drag('dragOver');
      return async () => {
        await drag('drop');
        await client.detach();
      };
    },
    trust: (fingerprint) => page.getByLabel('Root fingerprint').fill(fingerprint),
    async outcome() {
      await heading.waitFor();
      await settled();
      return (await heading.textContent()) ?? '';
    },
    async verdict() {
      await settled();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save the result' }).click(),
      ]);
      return JSON.parse(readFileSync(await download.path(), 'utf8')) as ShownVerdict;
    },
    async picture(name) {
      const folder = process.env['TEST_SCREENSHOTS'];
      if (!folder) return;
      const { width, height } = page.viewportSize()!;
      for (const colorScheme of ['light', 'dark'] as const)
        for (const wide of [1000, 320]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width: wide, height });
          await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${wide}.png`), fullPage: true });
        }
      await page.emulateMedia({ colorScheme: options.colorScheme ?? null });
      await page.setViewportSize({ width, height });
    },
    async focused() {
      // What a page does after a change it does after the next frame.
      await page.evaluate(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))',
      );
      return page.evaluate(
        '((at) => at === document.body ? "nothing" : at.labels?.[0]?.textContent || at.textContent || at.localName)(document.activeElement)',
      );
    },
    sidewaysWhenSpaced: () => page.evaluate<number>(SPACED),
    async barriers() {
      // Trusted Types forbid a script from text; the browser's own protocol may still run one.
      await page.evaluate(readFileSync(AXE, 'utf8'));
      const found: string[] = await page.evaluate(
        `axe.run(document, ${JSON.stringify(RULES)}).then(({ violations }) =>
          violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`,
      );
      return [...found, ...(await sharedNames(page))];
    },
    async close() {
      // A page may still be asking for something that a test answers in its own way.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}
