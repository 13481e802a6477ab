import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltProgram, killBuilt, startBuilt } from '../support/built-program.js';
import { chromiumPath } from '../support/chromium.js';
import { commandLine } from '../support/command-line.js';
import { freePort } from '../support/free-port.js';
import { type OpenPage, pageRig } from './page-rig.js';

const PATH = '/evidence';

/** A reverse proxy that serves another server below a path, and nothing beside it. */
async function serveBelow(port: number) {
  const beside: string[] = [];
  const proxy = createServer((asked, answer) => {
    const url = asked.url ?? '';
    if (!url.startsWith(`${PATH}/`)) {
      beside.push(url);
      answer.writeHead(404).end();
      return;
    }
    const { method, headers } = asked;
    const passed = request({ port, method, headers, path: url.slice(PATH.length) }, (reply) => {
      answer.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return { proxy, beside, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PATH}` };
}

describe.skipIf(!chromiumPath)('a service below a path of its host', { timeout: 240_000 }, () => {
  let dataDir: string;
  let proxy: Server;
  let beside: string[];
  let url: string;
  let program: BuiltProgram;
  let rig: Awaited<ReturnType<typeof pageRig>>;
  let open: OpenPage;
  const root = () => /^Root key: (\S+)/m.exec(program.written.out)![1]!;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'below-a-path-'));
    const port = await freePort();
    ({ proxy, beside, url } = await serveBelow(port));
    const environment = { DATA_DIR: dataDir, PORT: String(port), PLUGIN_PORT: String(await freePort()) };
    program = startBuilt('main', { ...environment, PUBLIC_URL: url }, ['--demo']);
    await program.says(/^Stop with /m);
    rig = await pageRig();
    open = await rig.open(/within ten minutes\): (\S+)/.exec(program.written.out)![1]!);
    open.page.setDefaultTimeout(60_000);
  }, 240_000);
  afterAll(async () => {
    await rig?.close();
    await killBuilt();
    proxy?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('signs in, shows and checks conversations, follows them live, and signs out', async () => {
    const { page } = open;
    await page.getByText('Signed in as First owner').waitFor();
    expect(page.url()).toBe(`${url}/console`);
    await page.getByRole('link', { name: 'Enhanced' }).first().click();
    await page.getByRole('button', { name: 'Check the evidence' }).click();
    await open.trust(root());
    await page.locator('.banner.verified').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Service', exact: true }).click();
    await page.getByText('The service accepts requests').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL(`${url}/console/sign-in?return_to=*`);
    expect(beside).toEqual([]);
  });

  it('has pages whose links lead on, and a public asset that page and command line verify', async () => {
    const { page } = open;
    const asset = /^Demo: a public asset.* (\S+)/m.exec(program.written.out)![1]!;
    expect(asset.startsWith(`${url}/archivist/`)).toBe(true);
    await page.route('**/events**', async (route) => {
      const body = (await (await route.fetch()).text()).replaceAll('CONFIRMED', 'UNEQUIVOCAL');
      await route.fulfill({ body, contentType: 'application/json' });
    });
    for (const place of [asset, `${asset.replace('/v2/', '/')}/`]) {
      await page.goto(place);
      const link = page.getByRole('link', { name: 'see which witnesses' }).first();
      expect(await link.evaluate((each) => Reflect.get(each, 'href'))).toBe(`${url}/verifiabledata/tlog`);
    }
    await page.unroute('**/events**');
    await page.goto(asset);
    await page.getByRole('button', { name: 'Check this asset' }).click();
    await page.locator('.banner.verified').waitFor();
    expect(await commandLine(['verify', '--root', root(), asset])).toMatchObject({ exitCode: 0 });
    for (const place of ['/', '/no/such/page', '/console/callback']) {
      await page.goto(url + place);
      const links = await page
        .getByRole('link')
        .evaluateAll((each) => each.map((link) => String(Reflect.get(link, 'href'))));
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) expect([place, link, (await fetch(link)).status < 400]).toEqual([place, link, true]);
    }
    await page.goto(`${url}/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    await page.goto(`${url}/verifiabledata/tlog`);
    await page.getByText('Signed with the verifier key below').first().waitFor();
    expect(beside).toEqual([]);
  });
});
