// Builds the pages: each is one HTML file with its style and script inside. The verifier also runs from a disk. The same
// source makes the same bytes, wherever it lies and whenever it is built. Optional arguments: the
// folder to write to; --print for the SHA-256 of the pages that are compared with releases.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licences } from './licences.mjs';
import { readOptions } from './read-options.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = readOptions('usage: node scripts/build-pages.mjs [--print] [<folder>]', {
  allowPositionals: true,
  options: { print: { type: 'boolean' } },
});
const out = positionals[0] ?? join(root, 'dist/src/console');
const source = join(root, 'src/console');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const shared = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  charset: 'utf8',
  legalComments: 'none',
};
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Ccircle cx='12' cy='12' r='12' fill='%2317569b'/%3E%3Cpath d='M6 13l4 4 8-10' fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E";

async function script(entry, define) {
  const built = await build({
    ...shared,
    entryPoints: [join(source, entry)],
    metafile: true,
    format: 'iife',
    target: 'es2023',
    platform: 'browser',
    tsconfig: join(source, 'tsconfig.json'),
    define: { VERSION: JSON.stringify(version), BUNDLE_PAGE: '""', ...define },
  });
  return { text: built.outputFiles[0].text.trim(), metafile: built.metafile };
}

async function styles(file) {
  const built = await build({ ...shared, entryPoints: [join(source, file)], target: 'es2023' });
  return built.outputFiles[0].text.trim();
}

const [ofAllPages, ofConsole] = [await styles('page.css'), await styles('console.css')];
const template = readFileSync(join(source, 'page.html'), 'utf8');
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * @param connect where the page may send requests
 * @param data an element for data, after the script
 */
async function writePage({ name, entry, title, connect, data = '', define = {} }) {
  const { metafile } = await script(entry, { LICENCES: '""', ...define });
  const { text: code } = await script(entry, { LICENCES: JSON.stringify(licences(root, metafile)), ...define });
  // A page that asks no service is one that people keep, or that comes with evidence: small.
  const style = connect ? `${ofAllPages}${ofConsole}` : ofAllPages;
  // Inside of an HTML script element these two would change where the script ends.
  if (/<!--|<\/script/i.test(code)) throw new Error(`the script of ${name} contains text that HTML would interpret`);
  const policy = [
    "default-src 'none'",
    `script-src ${hash(code)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    ...(connect ? [`connect-src ${connect}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const parts = { policy, title, icon: ICON, style, data, script: code };
  const html = template.replace(/\/\* (\w+) \*\//g, (_, part) => parts[part]);
  if (!Object.values(parts).every((part) => html.includes(part)))
    throw new Error(`the template has no place for a part`);
  if (data !== '' && html.split(data).length !== 2) throw new Error(`${name} has its data element twice`);
  writeFileSync(join(out, `${name}.html`), html);
  return createHash('sha256').update(html).digest('hex');
}

mkdirSync(out, { recursive: true });
const bundlePage = await writePage({
  name: 'bundle',
  entry: 'bundle-page.tsx',
  title: 'Evidence – vcon-archivist',
  // Each bundle puts the base64 of its evidence here (docs/formats/bundle.md).
  data: '<script id="evidence" type="application/zip"></script>\n',
});
const verifier = await writePage({
  name: 'verify',
  entry: 'verify-page.tsx',
  title: 'Check evidence – vcon-archivist',
  define: { BUNDLE_PAGE: JSON.stringify(bundlePage) },
});
await writePage({
  name: 'asset',
  entry: 'asset-page.tsx',
  title: 'Public asset – vcon-archivist',
  connect: "'self'",
});
await writePage({ name: 'logs', entry: 'logs-page.tsx', title: 'Statement logs – vcon-archivist', connect: "'self'" });
await writePage({
  name: 'console',
  entry: 'console-page.tsx',
  title: 'Find a conversation – vcon-archivist',
  connect: "'self'",
});
// For the release notes: a saved verifier is compared with these.
if (values.print) console.log(`${verifier}  verify.html\n${bundlePage}  bundle.html`);
