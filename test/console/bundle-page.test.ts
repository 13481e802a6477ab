import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { utf8 } from '../../src/core/bytes.js';
import { startTestService, type TestService, template, until } from '../api/test-service.js';
import { chromiumPath } from '../support/chromium.js';
import { type OpenPage, pageRig } from './page-rig.js';

const UUID = '0192e8f5-0000-7000-8000-0000000000b1';
const VCON = utf8(`{"vcon": "0.3.0", "uuid": "${UUID}", "parties": [{"name": "مريم"}], "dialog": []}`);
/** What the plugin records of an operation, beside the template. */
const CAPTURED = {
  vcon_form: 'unsigned',
  vcon_history: `vcon://${UUID}`,
  vcon_version: '0.4.0',
  vcon_draft_version: 'core-02',
  capture_method: 'receiver',
  capture_sequence: '01795906637824-00000000',
  conserver_chain: 'main',
  conserver_link_name: 'evidence_redacted',
  conserver_link_version: '0.3.0',
  payload_jcs_sha256: '2063458562d6e6f05e3c04d5b687a547a30c1e95b2e7971f009b2ebdd49c64b2',
  scitt_draft_version: '22',
  timestamp_declared_source: 'created_at',
  timestamp_observed: '2026-11-28T22:57:17.824Z',
};
const HOSTILE = `</script><script>alert(2)</script><img src=x onerror="alert(1)">\u202egpj.exe`;

describe.skipIf(!chromiumPath)('the page of a bundle, opened from a disk', { timeout: 120_000 }, () => {
  let running: TestService;
  let rig: Awaited<ReturnType<typeof pageRig>>;
  let fingerprint: string;
  let bundle: Uint8Array;
  let page: Uint8Array;

  beforeAll(async () => {
    running = await startTestService();
    rig = await pageRig();
    fingerprint = running.service.rootFingerprint;
    const post = async (path: string, body: object) => String((await running.owner.post(path, body)).json['identity']);
    const asset = await post('/archivist/v2/assets', { attributes: { arc_display_type: 'vcon' } });
    const payload = createHash('sha256').update(VCON).digest('hex');
    const event = await post(`/archivist/v2/${asset}/events`, {
      operation: 'Record',
      behaviour: 'RecordEvidence',
      event_attributes: template(`vcon://${UUID}`, {
        ...CAPTURED,
        vcon_operation: 'vcon_redacted',
        payload,
        note: HOSTILE,
      }),
    });
    const evidence = () => running.owner.get(`/archivist/v2/${event}/evidence`);
    bundle = (await until(evidence, ({ status }) => status === 200, 60_000)).bytes;
    page = unzipSync(bundle)['index.html']!;
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await running?.close();
  });

  const inPage = async (bytes: Uint8Array, check: (open: OpenPage) => Promise<void>, theme?: 'light' | 'dark') => {
    const open = await rig.open(pathToFileURL(rig.file('index.html', bytes)).href, { colorScheme: theme ?? 'light' });
    try {
      await check(open);
      expect(open.complaints).toEqual([]);
    } finally {
      await open.close();
    }
  };

  it('says first that it came with the evidence, and verifies only under the reader’s fingerprint', () =>
    inPage(page, async (open) => {
      const headings = open.page.locator('h1, h2');
      expect(await headings.nth(0).textContent()).toBe('Evidence of one operation');
      expect(await headings.nth(1).textContent()).toContain('This page came with the evidence');
      expect(await open.outcome()).toBe('Not verified yet');
      await open.trust(fingerprint);
      await open.page.locator('.banner.verified').waitFor();
      await open.give(rig.file('call.json', VCON));
      await open.page.getByText('call.json is the file that this evidence is about.').waitFor();
      const verdict = await rig.verify(
        '--root',
        fingerprint,
        rig.file('index.html', page),
        rig.file('call.json', VCON),
      );
      // Only another program can say which page it was.
      const isPage = (each: object) => (each as { piece: string }).piece === 'index.html';
      expect(verdict.not_covered.filter(isPage)).toHaveLength(1);
      expect(await open.verdict()).toEqual({
        ...verdict,
        not_covered: verdict.not_covered.filter((each) => !isPage(each)),
      });
    }));

  it('keeps nothing and reads nothing kept: every page on a disk shares the browser’s store', () =>
    inPage(page, async (open) => {
      await open.trust(fingerprint);
      await open.page.locator('.banner.verified').waitFor();
      expect(await open.page.getByText('Keep it in this browser').count()).toBe(0);
      expect(await open.page.evaluate<number>('localStorage.length')).toBe(0);
    }));

  it('refuses evidence that was changed in it, and names what it does not contain until the bundle is dropped', () =>
    inPage(page, async (open) => {
      const whole = rig.file('evidence.zip', bundle);
      await open.trust(fingerprint);
      await open.page.locator('.banner.verified').waitFor();
      await open.give(whole);
      await open.page.getByText('evidence.zip').first().waitFor();
      expect(await open.outcome()).toBe('Verified');
      expect((await open.verdict()).claims).toEqual((await rig.verify('--root', fingerprint, whole)).claims);
    }));

  it('opens under a name that is not UTF-8, and under that name says how to repeat the check', async () => {
    const place = dirname(rig.file('other/index.html', page));
    renameSync(join(place, 'index.html'), Buffer.concat([Buffer.from(`${place}/`), Buffer.of(0xff), utf8('.html')]));
    const open = await rig.open(`${pathToFileURL(place).href}/%FF.html`);
    try {
      await open.trust(fingerprint);
      await open.page.locator('.banner.verified').waitFor();
      expect(await open.page.locator('#page').textContent()).toContain('%FF.html');
      expect(open.complaints).toEqual([]);
    } finally {
      await open.close();
    }
  });

  it('says that its evidence cannot be read where it is damaged, and gives no other result', () => {
    const text = new TextDecoder().decode(page);
    const damaged = text.replace(/(?<=<script id="evidence"[^>]*>)[^<]{200}/, '');
    expect(damaged).not.toBe(text);
    return inPage(utf8(damaged), async (open) => {
      expect(await open.page.locator('.banner').allTextContents()).toEqual([
        expect.stringMatching(/^The evidence in this page cannot be read: ./),
      ]);
      expect(await open.page.locator('.banner.refused').count()).toBe(1);
    });
  });

  it.each(['light', 'dark'] as const)('has no barrier that axe finds, also narrow, in %s colours', (theme) =>
    inPage(
      page,
      async (open) => {
        await open.trust(fingerprint);
        await open.page.locator('.banner.verified').waitFor();
        await open.picture('bundle');
        for (const details of await open.page.locator('details').all())
          await details.evaluate((element) => element.setAttribute('open', ''));
        await open.page.setViewportSize({ width: 320, height: 640 });
        expect(await open.barriers()).toEqual([]);
        const width = await open.page.evaluate<number>('document.documentElement.scrollWidth');
        expect(width).toBeLessThanOrEqual(320);
        await open.picture('bundle');
        expect(await open.page.locator('img').count()).toBe(0);
      },
      theme,
    ),
  );

  it('prints one sheet for the operation, with facts, whole key thumbprints, what is open and how to repeat it', () =>
    inPage(page, async (open) => {
      await open.trust(fingerprint);
      await open.page.locator('.banner.verified').waitFor();
      await open.page.emulateMedia({ media: 'print' });
      const sheet = open.page.locator('.sheet').first();
      const text = await sheet.innerText();
      expect(text).toMatch(/^Redacted/);
      for (const part of ['What is proven', 'How, and by which keys', 'What is not covered', 'How to repeat it'])
        expect(text).toContain(part);
      expect(text).toMatch(/key [0-9a-f]{64}/);
      expect(text).toContain(`vcon-archivist verify --root ${fingerprint} index.html`);
      expect(await open.page.locator('.screen').isVisible()).toBe(false);
      const folder = process.env['TEST_SCREENSHOTS'];
      const report = await open.page.pdf({ ...(folder ? { path: `${folder}/report.pdf` } : {}), format: 'A4' });
      // The answer, the operation, and what all operations share.
      expect(report.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(3);
    }));
});
