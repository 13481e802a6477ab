import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, launchChromium } from '../support/chromium.js';
import type { FrozenEvidence, SelfCheck } from './browser-self-check.js';
import { readFixture } from './cose/read-fixture.js';

const evidence = readFixture<FrozenEvidence>('transparent-statement');

/** A secure origin that exists nowhere: every request is answered from here. */
const ORIGIN = 'https://core.test';
/** No inline script and no eval, as a careful page has it. */
const POLICY = "default-src 'none'; script-src 'self'";

async function bundle(format: 'esm' | 'iife'): Promise<{ text: string; metafile: Metafile }> {
  const built = await build({
    entryPoints: [fileURLToPath(new URL('browser-self-check.ts', import.meta.url))],
    bundle: true,
    platform: 'browser',
    format,
    write: false,
    metafile: true,
  });
  return { text: built.outputFiles[0]!.text, metafile: built.metafile };
}

/** The bundle's modules by path, from the comments that precede them. */
function modules(text: string): { path: string; code: string }[] {
  const parts = text.split(/^\/\/ ((?:src|test|node_modules|\.\.)\/?\S*\.(?:js|ts|cjs))$/m).slice(1);
  return parts.flatMap((path, at) => (at % 2 === 0 ? [{ path, code: parts[at + 1]! }] : []));
}

function expectVerdicts({ good, tampered, rawHash }: SelfCheck): void {
  expect([good.outcome, good.contradictions, good.claims.map(({ kind }) => kind)]).toEqual([
    'verified',
    [],
    ['statement', 'event', 'document'],
  ]);
  expect([tampered.outcome, tampered.contradictions.map(({ code }) => code)]).toEqual([
    'refused',
    ['payload_hash_mismatch'],
  ]);
  expect(rawHash).toMatch(/^[0-9a-f]{64}$/);
}

describe('the core in a browser', () => {
  let text: string;
  let metafile: Metafile;
  beforeAll(async () => {
    ({ text, metafile } = await bundle('esm'));
  });

  it('is bundled from the core and its pure packages, and imports nothing from Node', () => {
    const inputs = Object.entries(metafile.inputs);
    const packages = inputs.flatMap(([path]) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(packages)].sort()).toEqual(['@noble/curves', '@noble/hashes', 'cbor-x', 'fflate']);
    expect(inputs.flatMap(([, { imports }]) => imports.filter(({ external }) => external))).toEqual([]);
    expect(text).not.toMatch(/node:|\brequire\(/);
  });

  it('uses neither Buffer nor process, and makes no function from text', () => {
    const use = /(?<![.\w])(?:Buffer|process)\s*[.[]|globalThis\.(?:Buffer|process)/;
    const users = modules(text).filter(({ code }) => use.test(code.replace(/\/\/.*/g, '')));
    expect(modules(text).length).toBeGreaterThan(30);
    const paths = users.map(({ path }) => path.replace(/.*node_modules\//, ''));
    // cbor-x looks whether there is a Buffer; the next test shows that it needs none.
    expect([...new Set(paths)].sort()).toEqual(['cbor-x/dist/index-no-eval.cjs']);
    expect(text).not.toMatch(/new Function\b|(?<![.\w])eval\(/);
  });

  it('verifies and refuses in a context that has nothing but the web’s own functions', async () => {
    const { crypto, TextEncoder, TextDecoder, URL, atob, btoa } = globalThis;
    const web = { crypto, TextEncoder, TextDecoder, URL, atob, btoa };
    const context = createContext({ ...web, evidence: JSON.stringify(evidence) });
    runInContext((await bundle('iife')).text, context);
    const answer = await runInContext('selfCheck(JSON.parse(evidence)).then(JSON.stringify)', context);
    expectVerdicts(JSON.parse(answer as string) as SelfCheck);
  });

  it.skipIf(!chromiumPath)('verifies and refuses in Chromium, under a policy without eval', async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.route('**/*', (route) => {
        const isScript = route.request().url() === `${ORIGIN}/core.js`;
        return route.fulfill({
          headers: { 'content-security-policy': POLICY },
          contentType: isScript ? 'text/javascript' : 'text/html',
          body: isScript ? text : '<!doctype html><script type="module" src="/core.js"></script>',
        });
      });
      await page.goto(`${ORIGIN}/`, { waitUntil: 'load' });
      const check = (given: FrozenEvidence) =>
        (globalThis as unknown as { selfCheck(given: FrozenEvidence): Promise<SelfCheck> }).selfCheck(given);
      expectVerdicts(await page.evaluate(check, evidence));
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
