import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../api/test-service.js';
import { chromiumPath, launchChromium } from '../support/chromium.js';
import { pythonPath } from '../support/prerequisites.js';
import { type EmptyFolder, emptyFolder, REPOSITORY } from './empty-folder.js';

const EXAMPLES = join(REPOSITORY, 'examples');
const FILES = ['call.cose', 'log-keys.cbor', 'issuer-keys.json'];
const PAGE = 'https://example.test/';

/** Go 1.24 whose modules are there or can be fetched. */
const hasGo =
  /go1\.(2[4-9]|[3-9]\d)/.test(spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' }).stdout ?? '') &&
  spawnSync('go', ['-C', join(EXAMPLES, 'go'), 'mod', 'download'], { timeout: 60_000 }).status === 0;
if (!hasGo) console.log('Not run: the Go example, which needs Go 1.24 and its modules.');

let running: TestService;
let folder: EmptyFolder;
let environment: Record<string, string>;
beforeAll(async () => {
  running = await startTestService();
  folder = await emptyFolder();
  await cp(join(REPOSITORY, 'fixtures/vcon/call.vcon.json'), join(folder.path, 'call.vcon.json'));
  environment = {
    ARCHIVIST_URL: running.url,
    ARCHIVIST_CLIENT_ID: running.owner.clientId,
    ARCHIVIST_CLIENT_SECRET: running.ownerSecret,
  };
});
afterAll(async () => {
  await running?.close();
  await folder?.remove();
});

async function verifies(): Promise<void> {
  const program = join(REPOSITORY, 'dist/src/cli/vcon-archivist.js');
  const keys = ['--log-keys', 'log-keys.cbor', '--issuer-keys', 'issuer-keys.json'];
  const said = await folder.run('node', [program, 'verify', ...keys, 'call.vcon.json', 'call.cose']);
  expect(said).toMatch(/^VERIFIED/m);
}

describe('the examples that record', () => {
  it('with curl end with a statement that verifies', async () => {
    await folder.run('bash', [join(EXAMPLES, 'curl/get-started.sh')], environment);
    await verifies();
  }, 90_000);

  it.skipIf(!pythonPath)(
    'in Python end with a statement that verifies',
    async () => {
      await folder.run(pythonPath!, [join(EXAMPLES, 'python/get_started.py')], environment);
      await verifies();
    },
    90_000,
  );
});

describe('the examples that verify', () => {
  it.skipIf(!hasGo)(
    'in Go accepts the receipt, and refuses it for another statement',
    async () => {
      const program = join(folder.path, 'verifyreceipt');
      await folder.run('go', ['-C', join(EXAMPLES, 'go'), 'build', '-mod=readonly', '-o', program, '.']);
      expect(await folder.run(program, ['call.cose', 'log-keys.cbor'])).toMatch(/^VERIFIED: .* entry \d+ of \d+$/m);
      const statement = await readFile(join(folder.path, 'call.cose'));
      // The statement's signature is its last bytes.
      statement[statement.length - 1]! ^= 1;
      await writeFile(join(folder.path, 'other.cose'), statement);
      await expect(folder.run(program, ['other.cose', 'log-keys.cbor'])).rejects.toThrow(/REFUSED/);
    },
    240_000,
  );

  describe.skipIf(!chromiumPath)('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
      const bundled = join(folder.path, 'page');
      await mkdir(bundled);
      await build({
        entryPoints: [join(EXAMPLES, 'browser/verify-page.ts')],
        alias: { 'vcon-archivist/core': join(REPOSITORY, 'src/core/index.ts') },
        bundle: true,
        format: 'esm',
        outfile: join(bundled, 'verify-page.js'),
      });
    });
    afterAll(() => browser?.close());

    it('verifies the vCon, and refuses an altered one', async () => {
      const page = await browser.newPage();
      await page.route('**/*', async (route) => {
        const name = route.request().url().slice(PAGE.length);
        const script = name === 'verify-page.js';
        if (name !== '' && !script) return route.abort();
        return route.fulfill({
          path: script ? join(folder.path, 'page', name) : join(EXAMPLES, 'browser/index.html'),
          contentType: script ? 'text/javascript' : 'text/html',
        });
      });
      await page.goto(PAGE);
      const verdictOf = async (vcon: string) => {
        const chosen = [vcon, ...FILES].map((name) => join(folder.path, name));
        for (const [place, id] of ['document', 'statement', 'logKeys', 'issuerKeys'].entries())
          await page.setInputFiles(`#${id}`, chosen[place]!);
        await page.click('#verify');
        const verdict = page.locator('#verdict', { hasText: /./ });
        await verdict.waitFor();
        return verdict.textContent();
      };
      expect(await verdictOf('call.vcon.json')).toBe('VERIFIED');
      const altered = (await readFile(join(folder.path, 'call.vcon.json'), 'utf8')).replace('"', '" ');
      await writeFile(join(folder.path, 'altered.vcon.json'), altered);
      expect(await verdictOf('altered.vcon.json')).toMatch(/^REFUSED\npayload_hash_mismatch/);
    });
  });
});
