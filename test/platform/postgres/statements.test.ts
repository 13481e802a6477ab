import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import { names, selected, table } from '../../../src/platform/postgres/columns.js';
import type { Database } from '../../../src/platform/postgres/database.js';
import { openEmbedded } from '../../../src/platform/postgres/open-embedded.js';
import { rowsById } from '../../../src/platform/postgres/rows-by-id.js';
import { embeddedDataDir } from '../../support/engines.js';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));

/** A node of the syntax tree: its type, its place, and whatever else it has. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

interface Text {
  /** File and line. */
  readonly place: string;
  readonly text: string;
  /** The rest of it is known only when the program runs. */
  readonly isPart: boolean;
}

/** The value of an expression is known only when the program runs. */
class Unknown extends Error {}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';

/** The stores, and the constants that their texts are made of. */
class Sources {
  readonly paths = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /-(?:store|sql)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  readonly #trees = new Map<string, Node>();

  #tree(path: string): Node {
    const known = this.#trees.get(path) ?? (parseAst(readFileSync(path, 'utf8'), { lang: 'ts' }) as unknown as Node);
    this.#trees.set(path, known);
    return known;
  }

  /** The value of an expression. @throws {Unknown} unless it is made of constants */
  #value(path: string, node: Node): unknown {
    const of = (child: unknown) => this.#value(path, child as Node);
    switch (node.type) {
      case 'Literal':
        return node['value'];
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
        return of(node['expression']);
      case 'TemplateLiteral':
        return this.#text(path, node, () => {
          throw new Unknown();
        });
      case 'Identifier':
        return this.#constant(path, node['name'] as string);
      case 'ArrayExpression':
        return (node['elements'] as Node[]).map(of);
      case 'ObjectExpression':
        return Object.fromEntries(
          (node['properties'] as Node[]).map((each) => {
            if (each.type === 'SpreadElement') throw new Unknown();
            const key = each['key'] as Node;
            return [key['name'] ?? key['value'], of(each['value'])];
          }),
        );
      case 'BinaryExpression': {
        const [left, right] = [of(node['left']) as number, of(node['right']) as number];
        if (node['operator'] === '+') return left + right;
        if (node['operator'] === '-') return left - right;
        throw new Unknown();
      }
      case 'MemberExpression': {
        if (node['computed']) throw new Unknown();
        const object = of(node['object']) as Record<string, unknown>;
        const name = (node['property'] as Node)['name'] as string;
        if (!(name in object)) throw new Unknown();
        return object[name];
      }
      case 'CallExpression':
        return this.#call(path, node);
      default:
        throw new Unknown();
    }
  }

  /** The value of a call of `names`, `table`, `selected` or `rowsById`. @throws {Unknown} */
  #call(path: string, node: Node): unknown {
    const callee = node['callee'] as Node;
    const values = () => (node['arguments'] as Node[]).map((each) => this.#value(path, each)) as never[];
    const known: Readonly<Record<string, (...values: never[]) => unknown>> = { names, selected, table, rowsById };
    if (callee.type === 'Identifier' && Object.hasOwn(known, callee['name'] as string))
      return known[callee['name'] as string]!(...values());
    if (callee.type === 'MemberExpression' && (callee['property'] as Node)['name'] === 'columns')
      return (this.#value(path, callee['object'] as Node) as { columns(of: unknown): unknown }).columns(values()[0]);
    throw new Unknown();
  }

  /** The value of a constant of this file, or of one that it imports. @throws {Unknown} */
  #constant(path: string, name: string): unknown {
    for (const statement of this.#tree(path)['body'] as Node[]) {
      if (statement.type === 'ImportDeclaration') {
        const source = (statement['source'] as Node)['value'] as string;
        for (const each of statement['specifiers'] as Node[])
          if ((each['local'] as Node)['name'] === name && source.startsWith('.'))
            return this.#constant(
              join(dirname(path), source.replace(/\.js$/, '.ts')),
              (each['imported'] as Node)['name'] as string,
            );
      }
      const declared = statement.type === 'ExportNamedDeclaration' ? (statement['declaration'] as Node) : statement;
      if (declared?.type !== 'VariableDeclaration' || declared['kind'] !== 'const') continue;
      for (const each of declared['declarations'] as Node[])
        if ((each['id'] as Node)['name'] === name) return this.#value(path, each['init'] as Node);
    }
    throw new Unknown();
  }

  /** The text of a template; `unknown` stands for its parts that are not constants. */
  #text(path: string, node: Node, unknown: () => string): string {
    const parts = (node['quasis'] as Node[]).map((each) => (each['value'] as { cooked: string }).cooked);
    return (node['expressions'] as Node[]).reduce((text, each, place) => {
      let part: string;
      try {
        part = String(this.#value(path, each));
      } catch (error) {
        if (!(error instanceof Unknown)) throw error;
        part = unknown();
      }
      return text + part + parts[place + 1]!;
    }, parts[0]!);
  }

  /** The texts of a store: those made of constants in full, the others as parts. A text within a text is not repeated. */
  texts(path: string): Text[] {
    const source = readFileSync(path, 'utf8');
    const found: Text[] = [];
    const visit = (node: Node): void => {
      if (node.type === 'ImportDeclaration') return;
      const place = `${relative(SRC, path)}:${source.slice(0, node.start).split('\n').length}`;
      if (node.type === 'Literal' && typeof node['value'] === 'string')
        found.push({ place, text: node['value'], isPart: false });
      if (node.type === 'TemplateLiteral') {
        let isPart = false;
        const text = this.#text(path, node, () => {
          isPart = true;
          return ' ';
        });
        found.push({ place, text, isPart });
        if (!isPart) return;
      }
      for (const member of Object.values(node))
        for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) visit(child);
    };
    visit(this.#tree(path));
    return found;
  }
}

/** What a statement begins with that PostgreSQL can prepare. */
const VERB = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/;
const TABLE = /\barchivist\.([a-z_]+)\b(?!\()(?:\s+(?:AS\s+)?([a-z])\b)?/g;
/** An alias of what is not a table: of a function's rows, of a subquery, of a common table expression. */
const OTHER_ALIAS =
  /\bAS ([a-z])\(|\)\s+(?:AS\s+)?([a-z])\b|\b(?:FROM|JOIN)\s+(?!archivist\.)\w+\s+(?:AS\s+)?([a-z])\b/g;
const COLUMN = /(?<![\w.])([a-z]|[a-z]+_[a-z_]+|leaf)\.([a-z_]+)\b(?!\()/g;

/** For each name in these texts that stands for tables, which ones. */
function aliases(texts: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const text of texts)
    for (const [, relation, alias] of text.matchAll(TABLE))
      for (const name of [relation!, alias ?? relation!])
        found.set(name, (found.get(name) ?? new Set()).add(relation!));
  return found;
}

describe('of the statements of the stores', () => {
  const sources = new Sources();
  const textsOf = new Map(sources.paths.map((path) => [path, sources.texts(path)]));
  const texts = [...textsOf.values()].flat();
  let database: Database;
  let folder: string;
  beforeAll(async () => {
    folder = await embeddedDataDir();
    database = await openEmbedded(join(folder, 'embedded'));
  });
  afterAll(async () => {
    await database?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('each that is made of constants is one that the migrated database can run', async () => {
    // A part of a list's filter has `?` for its values.
    const statements = texts.filter(({ text, isPart }) => !isPart && VERB.test(text) && !text.includes('?'));
    const refused: string[] = [];
    for (const { place, text } of statements)
      await database
        .inTransaction('system', async (tx) => {
          await tx.execute(`PREPARE checked AS ${text}`);
          await tx.execute('DEALLOCATE checked');
        })
        .catch((error: Error) => refused.push(`${place}: ${error.message}`));
    expect(refused).toEqual([]);
    expect(statements.length).toBeGreaterThan(180);
  });

  it('each part of another names columns that a table of this name has', async () => {
    const rows = await database.inTransaction('system', (tx) =>
      tx.query<{ of: string; name: string }>(
        `SELECT c.relname AS of, a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
          WHERE c.relnamespace = 'archivist'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped`,
      ),
    );
    const columns = new Set(rows.map(({ of, name }) => `${of}.${name}`));
    const everywhere = aliases(texts.map(({ text }) => text));
    const unknown: string[] = [];
    let checked = 0;
    for (const parts of textsOf.values()) {
      const own = aliases(parts.map(({ text }) => text));
      const others = parts.flatMap(({ text }) =>
        [...text.matchAll(OTHER_ALIAS)].map((match) => match.slice(1).join('')),
      );
      for (const { place, text } of parts)
        for (const [found, alias, column] of text.matchAll(COLUMN)) {
          const tables = [...(own.get(alias!) ?? everywhere.get(alias!) ?? [])];
          if (tables.length === 0 || others.includes(alias!)) continue;
          checked += 1;
          if (!tables.some((each) => columns.has(`${each}.${column}`))) unknown.push(`${place}: ${found}`);
        }
    }
    expect(unknown).toEqual([]);
    expect(checked).toBeGreaterThan(600);
  });
});
