import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
  ['src/cli', 'src/console', 'src/main.ts', 'src/app.ts', 'src/start-service.ts', 'src/service', 'demo', 'test/bench'],
];
/**
 * The plugin's own layers, from the ground up. It runs in somebody else's pipeline and reaches the service only through
 * the queue and the REST interface.
 */
const PLUGIN_LAYERS: readonly (readonly string[])[] = [
  ['plugins/operation', 'plugins/settings', 'plugins/memory'],
  ['plugins/archivist-client', 'plugins/capture'],
  ['plugins/receiver', 'plugins/stream', 'plugins/tap', 'plugins/endings', 'plugins/receipts'],
  ['plugins/delivery'],
  ['plugins/report'],
  ['plugins/start', 'plugins/operator'],
];
/** All that the plugin has in common with the service: the pure core, the queue, and small tools that know no resource. */
const PLUGIN_ROOMS = [
  'src/core',
  'src/platform/queue/queue-backend.ts',
  'src/platform/queue/reading-redis.ts',
  'src/platform/queue/redis-durability.ts',
  'src/platform/at-intervals.ts',
  'src/platform/clock.ts',
  'src/platform/clock-offset.ts',
  'src/platform/clock-step.ts',
  'src/platform/clock-watch.ts',
  'src/platform/close-all.ts',
  'src/platform/config-values.ts',
  'src/platform/disk',
  'src/platform/durable-file.ts',
  'src/platform/if-there.ts',
  'src/platform/new-folder.ts',
  'src/platform/errors.ts',
  'src/platform/explain-failure.ts',
  'src/platform/http/fetch-direct.ts',
  'src/platform/http/follow-certificate.ts',
  'src/platform/http/read-tls-files.ts',
  'src/platform/logger.ts',
  'src/platform/queue/redis-options.ts',
  'src/platform/queue/run-while-right.ts',
  'src/platform/time-limit.ts',
];
/** Where the plugin is put together with its queue, and the doors by which that is done. */
const PLUGIN_COMPOSERS = [
  'src/cli/plugin',
  'src/service/config',
  'src/service/run-conserver-link.ts',
  'src/service/watch-disks.ts',
  'demo',
];
const PLUGIN_DOORS = ['plugins/start', 'plugins/operator', 'plugins/settings'];
const PURE = ['src/core', 'src/filter'];
/** The columns of every table, written by a test from the migrated database. */
const DATABASE_SCHEMA = 'src/platform/postgres/schema.ts';
/** What the platform stores itself: migrations, keys, and whether a service has started on the database. Then settings. */
const PLATFORM_TABLES = new Set([
  'schema_migration',
  'signing_key',
  'key_manifest',
  'key_follower',
  'deployment',
  ...['scope', 'readable', 'writable'],
]);
/** Words of the layers above that mean nothing else: an event can be Node's, a location a header. */
const RESOURCE_WORDS = new Set(
  ['asset', 'attachment', 'blob', 'compliance', 'intake', 'invite', 'leaf', 'massif', 'quotas', 'trail', 'webhook']
    .flatMap((word) => [word, `${word}s`])
    .concat('leaves'),
);
/** The rules of compliance: pure, so that the console says of any moment what the service would say. */
const COMPLIANCE_RULES = [
  'check-policy',
  'compliance-check',
  'current-outstanding',
  'dynamic-tolerance',
  'outstanding-text',
  'pairing',
  'period-outstanding',
  'richness',
  'richness-assertion',
  'since',
  'time-period',
].map((name) => `src/archivist/compliance/${name}.ts`);
/** The pure rules of compliance, and how policies name people: the console says what the service would say. */
const CONSOLE_ROOMS = ['src/console', ...PURE, ...COMPLIANCE_RULES, 'src/iam/access/principal-key.ts'];
const PURE_PACKAGES = [/^@noble\/(?:hashes|curves)\//, /^cbor-x\/index-no-eval$/, /^fflate$/];

interface Import {
  readonly specifier: string;
  readonly target?: string;
  /** Nothing of a type is there at run time. */
  readonly typeOnly: boolean;
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

function sourceFiles(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function read(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const specifiers = [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b(\s+type\b)?[^'";]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g,
    ),
  ];
  return {
    path,
    text,
    imports: specifiers.map((match) => {
      const specifier = (match[2] ?? match[3] ?? match[4])!;
      const typeOnly = match[1] !== undefined;
      if (!specifier.startsWith('.')) return { specifier, typeOnly };
      const target = normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts');
      return { specifier, typeOnly, target: existsSync(join(ROOT, target)) ? target : `${target}x` };
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

/** Every file that is loaded when one of these is. */
function loadedWith(paths: readonly string[]): ReadonlySet<string> {
  const byPath = new Map(FILES.map((file) => [file.path, file]));
  const loaded = new Set(paths);
  for (const path of loaded)
    for (const { target, typeOnly } of byPath.get(path)?.imports ?? [])
      if (target !== undefined && !typeOnly) loaded.add(target);
  return loaded;
}

function cycles(targets: ReadonlyMap<string, readonly string[]>): string[] {
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
  for (const path of targets.keys()) visit(path, []);
  return found;
}

/** What each file imports. */
function importsOfFiles(): Map<string, string[]> {
  return new Map(FILES.map((file) => [file.path, file.imports.flatMap((one) => one.target ?? [])]));
}

/** What each folder of a layer imports of the others. A file beside the folders counts as one of its own. */
function importsOfFolders(): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const [path, targets] of importsOfFiles()) {
    const own = folderOf(path);
    if (own === undefined) continue;
    const others = targets.flatMap((target) => folderOf(target) ?? []).filter((folder) => folder !== own);
    folders.set(own, [...new Set([...(folders.get(own) ?? []), ...others])]);
  }
  return folders;
}

/** `src/iam/access` for a file anywhere in it; undefined for a file of no layer with folders. */
function folderOf(path: string): string | undefined {
  return /^src\/[^/]+\/[^/]+/.exec(path)?.[0];
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

  it('lets the plugin load the core, the queue and a few tools, and nothing else of the service', () => {
    const plugin = FILES.filter((file) => file.path.startsWith('plugins/'));
    const direct = plugin.flatMap((file) =>
      file.imports
        .filter(({ target }) => target !== undefined && !within(target, ['plugins', ...PLUGIN_ROOMS]))
        .map(({ target }) => `${file.path} → ${target}`),
    );
    const loaded = [...loadedWith(plugin.map(({ path }) => path))].filter(
      (path) => !within(path, ['plugins', ...PLUGIN_ROOMS]),
    );
    expect([...direct, ...loaded]).toEqual([]);
  });

  it('has the plugin’s folders in layers, and imports only downward between them', () => {
    const layerIn = (path: string) => PLUGIN_LAYERS.findIndex((layer) => within(path, layer));
    const plugin = FILES.filter((file) => file.path.startsWith('plugins/'));
    const upward = plugin.flatMap((file) => {
      const own = PLUGIN_LAYERS.flat().find((place) => within(file.path, [place]));
      if (own === undefined) return [`${file.path} is in no layer`];
      return file.imports
        .filter(({ target }) => target?.startsWith('plugins/') && !within(target, [own]))
        .filter(({ target }) => layerIn(target!) >= layerIn(file.path))
        .map(({ target }) => `${file.path} → ${target}`);
    });
    expect(upward).toEqual([]);
  });

  it('puts the plugin together in few places, through its doors', () => {
    const strays = FILES.filter((file) => !file.path.startsWith('plugins/')).flatMap((file) =>
      file.imports
        .filter(({ target }) => target?.startsWith('plugins/'))
        .filter(({ target }) => !within(file.path, PLUGIN_COMPOSERS) || !within(target!, PLUGIN_DOORS))
        .map(({ target }) => `${file.path} → ${target}`),
    );
    expect(strays).toEqual([]);
  });

  it('keeps the offline verifier on the core alone', () => {
    const verify = FILES.find((file) => file.path === 'src/cli/verify-command.ts')!;
    expect(
      verify.imports
        .filter(({ target }) => target !== undefined && !within(target, ['src/core', 'src/cli']))
        .map(({ target }) => target),
    ).toEqual([]);
  });

  it('keeps the pages on the core, on pure rules of the service, and on a library that draws', () => {
    const pages = FILES.filter((file) => within(file.path, ['src/console']));
    const packages = pages.flatMap((file) =>
      file.imports
        .filter(({ specifier, target }) => target === undefined && !/^preact(?:\/hooks)?$/.test(specifier))
        .map(({ specifier }) => `${file.path} imports ${specifier}`),
    );
    expect(packages).toEqual([]);
    // What the pages load of the service, they load with everything that it loads itself.
    const loaded = [...loadedWith(pages.map(({ path }) => path))].filter((path) => !within(path, CONSOLE_ROOMS));
    expect(loaded).toEqual([]);
    const rules = FILES.filter((file) => within(file.path, COMPLIANCE_RULES)).flatMap(({ imports }) => imports);
    expect(rules.filter(({ target, typeOnly }) => target === undefined && !typeOnly)).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(cycles(importsOfFiles())).toEqual([]);
  });

  it('has no circle of folders inside a layer: of two folders, one is above', () => {
    expect(cycles(importsOfFolders())).toEqual([]);
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

  it('takes from the schema the name of every column that a statement sets', () => {
    const written = FILES.filter(
      ({ path, text }) => /-(?:store|sql)\.ts$/.test(path) && /\bSET\s+[a-z_]+\s*=/.test(text),
    );
    expect(written.map(({ path }) => path)).toEqual([]);
  });

  it('has a platform that knows no resource: no word for one, and no table but its own', () => {
    const platform = FILES.filter(({ path }) => within(path, ['src/platform']) && path !== DATABASE_SCHEMA);
    const known = platform.flatMap(({ path, text }) => {
      const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm, '');
      const words = code.match(/[A-Z]?[a-z]+/g) ?? [];
      const tables = [...code.matchAll(/\barchivist\.([a-z_]+)|\btable\('([a-z_]+)'\)/g)].map(
        (match) => match[1] ?? match[2]!,
      );
      return [
        ...words.filter((word) => RESOURCE_WORDS.has(word.toLowerCase())),
        ...tables.filter((name) => !PLATFORM_TABLES.has(name)),
      ].map((name) => `${path}: ${name}`);
    });
    expect(known).toEqual([]);
  });

  it('generates every key pair in one file, tests too: on Node 20 one that is made elsewhere can stop its process', () => {
    const texts = [
      ...FILES,
      ...sourceFiles('test').map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
    ];
    const makers = texts.filter(({ text }) => /\bgenerateKeyPair(?:Sync)?\('/.test(text)).map(({ path }) => path);
    expect(makers).toEqual(['src/platform/keys/new-key-pair.ts']);
  });

  it('has no test file that is empty, and so fails, where there is no PostgreSQL server', () => {
    const filtered = sourceFiles('test').filter((path) =>
      /engines\(\)\.filter\(/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(filtered).toEqual([]);
  });

  it('reads the environment in config files alone', () => {
    const readers = FILES.filter(
      (file) => file.text.includes('process.env') && !within(file.path, ['src/main.ts', 'src/cli', 'demo']),
    );
    expect(readers.map((file) => file.path)).toEqual([]);
  });

  // The linter leaves out lines that begin with a brace, and the markup of a component.
  it('keeps functions under 60 lines, from their first line to their last', () => {
    const long = FILES.flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:export )?(?:async )?function\*? (\w+)[\s\S]*?^}$/gm)]
        .filter(([whole]) => whole.split('\n').length >= 60)
        .map(([, name]) => `${path}: ${name}`),
    );
    expect(long).toEqual([]);
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
