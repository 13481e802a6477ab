import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = ['src', 'plugins'];
const FOLDERS = [...PROGRAM, 'test', 'demo', 'scripts'];
/** Copied into the build, so that the program runs without the package. */
const COPIED = new Set(['preact', 'swagger-ui-dist']);
const NAME = String.raw`['"]((?:@[\w.-]+/)?[a-z][\w.-]*)(?:/[\w./-]+)?['"]`;
const IMPORTS = [
  // An import statement on one line, and the last line of a longer one.
  new RegExp(String.raw`^(?:import |(?:import|export|\})[^'"\n]* from )${NAME};`, 'gm'),
  new RegExp(String.raw`(?:\bimport|createRequire\(import\.meta\.url\)\.resolve)\(${NAME}\)`, 'g'),
  new RegExp(String.raw`transport\(\{ target: ${NAME}`, 'g'),
];

type Section = 'dependencies' | 'optionalDependencies' | 'devDependencies';
type Manifest = Readonly<Record<Section | 'scripts', Readonly<Record<string, string>>>>;

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const namesIn = (...sections: Section[]) => sections.flatMap((section) => Object.keys(manifest[section]));

/** Packages by the folders whose files import them. */
function importedPackages(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const folder of FOLDERS)
    for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(?:tsx?|mjs)$/.test(entry.name)) continue;
      const path = join(entry.parentPath, entry.name);
      if (relative(ROOT, path).includes('node_modules')) continue;
      const text = readFileSync(path, 'utf8');
      for (const pattern of IMPORTS)
        for (const [, name] of text.matchAll(pattern)) found.set(name!, (found.get(name!) ?? new Set()).add(folder));
    }
  return found;
}

const imported = importedPackages();

/** Run by a script of package.json. */
function isCommand(name: string): boolean {
  const { bin = {} } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'));
  const commands = typeof bin === 'string' ? [name] : Object.keys(bin);
  const scripts = Object.values(manifest.scripts).join(' ').split(/\s+/);
  return commands.some((command) => scripts.includes(command));
}

/** The types of a package that is imported without types of its own, or of Node. */
function isTypes(name: string): boolean {
  const of = name.startsWith('@types/') ? name.slice('@types/'.length) : undefined;
  return of !== undefined && (of === 'node' || imported.has(of));
}

it('every dependency in package.json is imported, or run by one of its scripts', () => {
  const unused = namesIn('dependencies', 'optionalDependencies', 'devDependencies').filter(
    (name) => !imported.has(name) && !isTypes(name) && !isCommand(name),
  );
  expect(unused).toEqual([]);
});

it('whatever a file imports is a dependency, and whatever the program imports is installed with it', () => {
  const builtin = (name: string) => builtinModules.includes(name);
  const declared = new Set(namesIn('dependencies', 'optionalDependencies', 'devDependencies'));
  const installed = new Set([...namesIn('dependencies', 'optionalDependencies'), ...COPIED]);
  const missing = [...imported.keys()].filter((name) => !declared.has(name) && !builtin(name));
  const notInstalled = [...imported]
    .filter(([, folders]) => PROGRAM.some((folder) => folders.has(folder)))
    .map(([name]) => name)
    .filter((name) => !installed.has(name) && !builtin(name));
  expect([missing, notInstalled]).toEqual([[], []]);
});

it('a package that only tests and scripts import is not installed with the program', () => {
  const elsewhere = namesIn('dependencies', 'optionalDependencies').filter(
    (name) => !PROGRAM.some((folder) => imported.get(name)?.has(folder)),
  );
  expect(elsewhere).toEqual([]);
});
