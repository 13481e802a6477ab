import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BUILT_PAGE } from './page-rig.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MOST_BYTES = 122_000;
const built = readFileSync(BUILT_PAGE);
const bundlePage = readFileSync(BUILT_PAGE.replace('verify.html', 'bundle.html'));

describe('the file of the verifier', () => {
  it('is the same bytes whenever and wherever it is built', { timeout: 60_000 }, () => {
    const copy = mkdtempSync(join(tmpdir(), 'another-place-'));
    try {
      for (const name of ['src', 'scripts', 'package.json', 'tsconfig.json'])
        cpSync(join(ROOT, name), join(copy, name), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
      const env = { ...process.env, TZ: 'Pacific/Auckland', LANG: 'C' };
      execFileSync(process.execPath, ['scripts/build-pages.mjs', join(copy, 'out')], { cwd: copy, env });
      for (const [name, bytes] of [['verify', built] as const, ['bundle', bundlePage] as const])
        expect([name, readFileSync(join(copy, `out/${name}.html`)).equals(bytes)]).toEqual([name, true]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('is at most 122 kB to load, and names the licence of everything in it', () => {
    expect(gzipSync(built).length).toBeLessThan(MOST_BYTES);
    for (const name of ['preact', 'cbor-x', 'fflate', '@noble/hashes'])
      expect(built.includes(`${name} `), name).toBe(true);
  });

  it('allows its own script and style by their hashes, and nothing else', () => {
    const policy = /content="(default-src [^"]+)"/.exec(built.toString())![1]!;
    const hashOf = (element: string) => {
      const [, content = ''] = new RegExp(`<${element}>([\\s\\S]*)</${element}>`).exec(built.toString())!;
      return createHash('sha256').update(content).digest('base64');
    };
    expect(policy).not.toMatch(/unsafe|https?:|\*|blob:/);
    expect(policy).toContain(`default-src 'none'; script-src 'sha256-${hashOf('script')}'; `);
    expect(policy).toContain(`style-src 'sha256-${hashOf('style')}'; `);
  });
});
