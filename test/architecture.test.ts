import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Layers from the ground up. A file may import its own layer, if the layer allows it, and any lower one. */
const LAYERS: readonly (readonly string[])[] = [
  ['src/core', 'src/filter'],
  ['src/platform'],
  ['src/ledger', 'src/iam'],
  ['src/archivist', 'src/scitt'],
  ['src/workers'],
  ['src/cli', 'src/console', 'src/main.ts', 'src/app.ts', 'src/start-service.ts', 'src/service', 'demo', 'test/bench'],
];
/** The plugins run in somebody else's pipeline: they reach the backend through the queue or HTTP alone. */
const PLUGIN_MAY_IMPORT = ['plugins', 'src/core', 'src/platform'];
const PURE = ['src/core', 'src/filter'];
const PURE_PACKAGES = [/^@noble\/hashes\//];

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly { readonly specifier: string; readonly target?: string }[];
}

function sourceFiles(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function read(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const specifiers = [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g,
    ),
  ];
  return {
    path,
    text,
    imports: specifiers.map((match) => {
      const specifier = (match[1] ?? match[2] ?? match[3])!;
      if (!specifier.startsWith('.')) return { specifier };
      return { specifier, target: normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts') };
    }),
  };
}

const FILES = ['src', 'plugins', 'demo'].flatMap(sourceFiles).map(read);

function within(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

function layerOf(path: string): number {
  return LAYERS.findIndex((layer) => within(path, layer));
}

function cycles(): string[] {
  const targets = new Map(FILES.map((file) => [file.path, file.imports.flatMap((one) => one.target ?? [])]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const file of FILES) visit(file.path, []);
  return found;
}

describe('the house', () => {
  it('has every file in a layer', () => {
    expect(
      FILES.filter((file) => !file.path.startsWith('plugins/') && layerOf(file.path) < 0).map((file) => file.path),
    ).toEqual([]);
  });

  it('imports only downward, and never from a sibling layer', () => {
    const upward = FILES.filter((file) => !file.path.startsWith('plugins/')).flatMap((file) => {
      const own = layerOf(file.path);
      const sibling = LAYERS[own]!.find((place) => within(file.path, [place]))!;
      return file.imports.flatMap(({ target }) => {
        if (target === undefined || (own === LAYERS.length - 1 && !within(target, LAYERS[own]!))) return [];
        const layer = layerOf(target);
        const allowed =
          layer >= 0 && (layer < own || (layer === own && (within(target, [sibling]) || own === LAYERS.length - 1)));
        return allowed ? [] : [`${file.path} → ${target}`];
      });
    });
    expect(upward).toEqual([]);
  });

  it('lets plugins import the core, the platform and themselves, nothing else', () => {
    const foreign = FILES.filter((file) => file.path.startsWith('plugins/')).flatMap((file) =>
      file.imports
        .filter(({ target }) => target !== undefined && !within(target, PLUGIN_MAY_IMPORT))
        .map(({ target }) => `${file.path} → ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  it('keeps the offline verifier on the core alone', () => {
    const verify = FILES.find((file) => file.path === 'src/cli/verify-command.ts')!;
    expect(
      verify.imports
        .filter(({ target }) => target !== undefined && !within(target, ['src/core', 'src/cli']))
        .map(({ target }) => target),
    ).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(cycles()).toEqual([]);
  });

  it('keeps the pure layers free of I/O, clocks and randomness', () => {
    const impure = FILES.filter((file) => within(file.path, PURE)).flatMap((file) => [
      ...file.imports
        .filter(
          ({ specifier, target }) => target === undefined && !PURE_PACKAGES.some((allowed) => allowed.test(specifier)),
        )
        .map(({ specifier }) => `${file.path} imports ${specifier}`),
      ...(/\b(Date\.now|new Date\(\)|Math\.random|process\.|Buffer\.|fetch\(|getRandomValues|randomUUID)/.test(
        file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''),
      )
        ? [`${file.path} is impure`]
        : []),
    ]);
    expect(impure).toEqual([]);
  });

  it('keeps SQL in store files, migrations and the platform', () => {
    const sql = /[`'"]\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s/;
    const strays = FILES.filter(
      (file) =>
        file.path.startsWith('src/') &&
        sql.test(file.text) &&
        !/-(?:store|sql)\.ts$/.test(file.path) &&
        !file.path.startsWith('src/platform/'),
    );
    expect(strays.map((file) => file.path)).toEqual([]);
  });

  it('reads the environment in config files alone', () => {
    const readers = FILES.filter(
      (file) =>
        file.text.includes('process.env') &&
        !within(file.path, ['src/main.ts', 'src/cli', 'demo', 'src/platform/config.ts']),
    );
    expect(readers.map((file) => file.path)).toEqual([]);
  });

  it('keeps files under 300 lines and has no drawer of a name', () => {
    const long = FILES.filter((file) => file.text.split('\n').length > 301).map((file) => file.path);
    const drawers = FILES.filter(
      (file) =>
        /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\.ts|\/)/.test(file.path) ||
        (/\/index\.ts$/.test(file.path) && file.path !== 'src/core/index.ts'),
    );
    expect([...long, ...drawers.map((file) => file.path)]).toEqual([]);
  });
});
