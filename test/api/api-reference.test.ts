import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, launchChromium } from '../support/chromium.js';
import { startTestService, type TestService } from './test-service.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
const CREATE = '#operations-Assets_and_their_events-Events_Create';

let running: TestService;
beforeAll(async () => {
  running = await startTestService();
});
afterAll(() => running?.close());

describe('the files of the API reference', () => {
  it('come with an entity tag, and not again to a browser that has them', async () => {
    const first = await running.anonymous.get('/docs/swagger-ui-bundle.js');
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^W\/"[0-9a-f]{64}"$/);
    const again = await running.anonymous.get('/docs/swagger-ui-bundle.js', { 'if-none-match': etag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  it('are only the ones that the page needs', async () => {
    expect((await running.anonymous.get('/docs/..%2f..%2fpackage.json')).status).toBe(404);
  });
});

describe.skipIf(!chromiumPath)('the API reference in a browser', () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(running.url) && !request.url().startsWith('data:')) complaints.push(request.url());
    });
    await page.goto(`${running.url}/docs`);
    await page.waitForSelector('.opblock-tag');
  });
  afterAll(() => browser?.close());

  it('lets a reader find "record an event", try it with a token and see the answer', async () => {
    const asset = await running.owner.post('/archivist/v2/assets', { attributes: { arc_display_type: 'vcon' } });
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.locator('.auth-container', { hasText: 'bearer' }).first().locator('input').fill(running.owner.token);
    await page.locator('.auth-container').first().locator('button[type=submit]').click();
    await page.locator('.btn-done').first().click();
    await page.getByRole('textbox', { name: /filter/i }).fill('Assets and their events');
    await page.locator('.opblock-tag').first().click();
    await page.locator(`${CREATE} .opblock-summary-control`).click();
    const uuid = String(asset.json['identity']).replace('assets/', '');
    await page.locator(`${CREATE} tr[data-param-name="uuid"] input`).fill(uuid);
    await page.locator(`${CREATE} .execute`).click();
    const answer = page.locator(`${CREATE} .live-responses-table tbody .response-col_status`).first();
    await answer.waitFor();
    expect(await answer.textContent()).toContain('200');
    expect(await page.locator(`${CREATE} .live-responses-table`).textContent()).toContain('"operation": "Record"');
  });

  it.each(['light', 'dark'] as const)(
    'has no barrier that axe finds, with an operation open, in %s colours',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      // Buttons fade from one theme to the other.
      await page.evaluate(
        'Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined)))',
      );
      const back = await page.evaluate<string>(
        'getComputedStyle(document.querySelector(".swagger-ui")).backgroundColor',
      );
      expect(back).toBe(colorScheme === 'dark' ? 'rgb(28, 32, 34)' : 'rgba(0, 0, 0, 0)');
      const folder = process.env['TEST_SCREENSHOTS'];
      if (folder) await page.screenshot({ path: `${folder}/reference-${colorScheme}.png`, fullPage: true });
      await page.evaluate(await readFile(AXE, 'utf8'));
      const found = await page.evaluate(
        `axe.run(document, ${JSON.stringify(RULES)}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`,
      );
      expect(found).toEqual([]);
    },
  );

  it('asks nobody else, and breaks no rule of its content security policy', () => {
    expect(complaints).toEqual([]);
  });
});
