// Puts the service and the command line, each with the packages that it loads, into a few files, because loading a
// thousand modules takes longer than everything else in a start. The compiled modules stay for programs that import them.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licences } from './licences.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, 'dist/src/program');
const ENTRIES = [
  'main',
  'cli/vcon-archivist',
  'service/ledger-worker',
  'platform/postgres/engine-worker',
  'service/audit-worker',
];
/** They load files of their own at run time: binaries, workers, or whatever is in a folder. */
const APART = ['@electric-sql/pglite', 'koffi', 'node-pg-migrate', 'pino', 'pino-pretty'];
/** Packages try to load them, and run without them. */
const OPTIONAL = ['@valkey/valkey-glide', 'pg-native', 'supports-color'];

/** Every module looks for its files from the place of its compiled form, whichever file of the program it is in. */
const ownPlaces = {
  name: 'own-places',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const compiled = join(root, 'dist', relative(root, path)).replace(/\.ts$/, '.js');
      const place = `new URL(${JSON.stringify(relative(out, compiled))}, import.meta.url).href`;
      return { contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', place), loader: 'ts' };
    });
  },
};

rmSync(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ENTRIES.map((entry) => ({ in: `src/${entry}.ts`, out: basename(entry) })),
  outdir: out,
  tsconfig: 'tsconfig.build.json',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: APART,
  plugins: [ownPlaces],
  // On Node 20, each start on S3 and each command would print nine lines about versions of that library which we do not use.
  define: { 'process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED': '"true"' },
  // Packages compare and print the names of classes.
  keepNames: true,
  // Read by Node with --enable-source-maps.
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
});

nameOnlyWhatHasPrototype();
for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) writeInAscii(join(root, file));
requireInstalled();
writeFileSync(join(out, 'LICENCES.txt'), `${licences(root, metafile)}\n`);
for (const entry of ENTRIES) writeFileSync(join(root, 'dist/src', `${entry}.js`), entryPoint(entry));
// npx makes it executable only when it links this folder first, and remembers the link when dist is made anew.
chmodSync(join(root, 'dist/src/cli/vcon-archivist.js'), 0o755);

/**
 * Comments and regular expressions keep their characters. With one character beyond Latin-1 in it, the engine keeps two
 * bytes for each of a file, in every thread: 6 MB of the largest two.
 */
function writeInAscii(path) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/[^\0-\x7f]/g, escaped));
}

/** A module that loads the program and takes the place of the compiled entry point. */
function entryPoint(entry) {
  const isCommand = readFileSync(join(root, 'src', `${entry}.ts`), 'utf8').startsWith('#!');
  const up = '../'.repeat(entry.split('/').length - 1) || './';
  return `${isCommand ? '#!/usr/bin/env node\n' : ''}import '${up}program/${basename(entry)}.js';\n`;
}

/**
 * `keepNames` also defines a name on every arrow function and async function, each time one is made: 0.24 µs each, and a
 * tenth of the processor time of an event. Nothing reads those.
 */
function nameOnlyWhatHasPrototype() {
  const define = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
  const found = Object.keys(metafile.outputs)
    .map((path) => join(root, path))
    .filter((path) => path.endsWith('.js') && readFileSync(path, 'utf8').includes(define));
  if (found.length !== 1) throw new Error(`the program defines names in ${found.length} files instead of one`);
  const onlySome = define
    .replace('=> __defProp', '=> "prototype" in target ? __defProp')
    .replace('});', '}) : target;');
  writeFileSync(found[0], readFileSync(found[0], 'utf8').replace(define, onlySome));
}

/** An installation has our own dependencies in reach, and not always those of a package. */
function requireInstalled() {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  for (const { path, external } of imports) {
    const [name] = /^(@[^/]+\/)?[^/]+/.exec(path);
    if (!external || isBuiltin(path) || OPTIONAL.includes(name)) continue;
    if (!(name in { ...dependencies, ...optionalDependencies })) throw new Error(`the program cannot load ${path}`);
  }
}
