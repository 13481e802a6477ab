import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const USERS = ['src', 'plugins', 'test', 'demo', 'scripts', 'examples'];
/** The names of a module are what it offers: its importers are outside this repository. */
const ENTRY_POINTS = new Set(['src/core/index.ts']);
/** Exported because declarations that the compiler writes name them. */
const NAMED_BY_DECLARATIONS = new Set(['RowList']);
const EXPORT = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm;
const NAMED = /^(?:import|export)[^;]*?\{([^}]*)\}[^;]*?from/gm;
const ON_DEMAND =
  /\{([^{}]*)\} = (?:\([^()]*)?await import\(|typeof import\([^)]*\)\)?(?:\['(\w+)'\]|\.(\w+))|import\([^)]*\)\)?\.(\w+)/g;

it('whatever the sources export is imported by another file', () => {
  const files = USERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(
        (entry) => entry.isFile() && /\.(?:tsx?|mjs)$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
      )
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const imported = new Set<string>();
  const exported: { file: string; name: string }[] = [];
  for (const path of files) {
    const file = relative(ROOT, path);
    const text = readFileSync(path, 'utf8');
    for (const [, ...lists] of [...text.matchAll(NAMED), ...text.matchAll(ON_DEMAND)])
      for (const name of lists.join(',').split(','))
        imported.add(
          name
            .replace(/^\s*type\s/, '')
            .trim()
            .split(/[\s:]/)[0]!,
        );
    if (/^(?:src|plugins)\//.test(file) && !ENTRY_POINTS.has(file))
      for (const [, name] of text.matchAll(EXPORT)) exported.push({ file, name: name! });
  }
  const unused = exported.filter(({ name }) => !imported.has(name) && !NAMED_BY_DECLARATIONS.has(name));
  expect(unused.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  expect(exported.length).toBeGreaterThan(1000);
});
