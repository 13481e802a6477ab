// Builds the verifier: one HTML file with its style and script inside, which runs from a server and from a disk. The same
// source makes the same bytes, wherever it lies and whenever it is built. Optional argument: the folder to write to.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = process.argv[2] ?? join(root, 'dist/src/console');
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

/** The licence of every package that is in the page, each text once. */
function licences(metafile) {
  const inputs = Object.keys(metafile.inputs);
  const packages = new Set(inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
  const texts = [...packages].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt'].map((each) => join(folder, each)).find(existsSync);
    const { version: of } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return `${name} ${of}\n\n${readFileSync(file, 'utf8').replace(/\r/g, '').trim()}`;
  });
  return texts.join('\n\n\n');
}

async function script(define) {
  const built = await build({
    ...shared,
    entryPoints: [join(source, 'verify-page.tsx')],
    metafile: true,
    format: 'iife',
    target: 'es2023',
    platform: 'browser',
    tsconfig: join(source, 'tsconfig.json'),
    define,
  });
  return { text: built.outputFiles[0].text.trim(), metafile: built.metafile };
}

const named = { VERSION: JSON.stringify(version) };
const { metafile } = await script({ ...named, LICENCES: '""' });
const { text: code } = await script({ ...named, LICENCES: JSON.stringify(licences(metafile)) });
const css = await build({ ...shared, entryPoints: [join(source, 'verify-page.css')], target: 'es2023' });
const style = css.outputFiles[0].text.trim();
// Inside of an HTML script element these two would change where the script ends.
if (/<!--|<\/script/i.test(code)) throw new Error('the script of the page contains text that HTML would interpret');

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(code)}`,
  `style-src ${hash(style)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
const parts = { policy, icon: ICON, style, script: code };
const template = readFileSync(join(source, 'verify-page.html'), 'utf8');
const html = template.replace(/\/\* (\w+) \*\//g, (_, name) => parts[name]);
if (!Object.values(parts).every((part) => html.includes(part))) throw new Error('the template has no place for a part');
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'verify.html'), html);
