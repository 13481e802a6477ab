import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY } from './empty-folder.js';

const PROGRAM = join(REPOSITORY, 'dist/src/program');
const ENTRIES = ['main.js', 'cli/vcon-archivist.js', 'service/ledger-worker.js', 'service/audit-worker.js'];
/** Not in the program: they load files of their own. */
const APART = /^(@electric-sql\/pglite|koffi|node-pg-migrate|pino|pino-pretty)(\/|$)/;

const files = readdirSync(PROGRAM).filter((name) => name.endsWith('.js'));
const textOf = (name: string) => readFileSync(join(PROGRAM, name), 'utf8');

describe('the built program', () => {
  it('is a few files: the service, the command line and their threads load no module beside them', () => {
    for (const entry of ENTRIES)
      expect(readFileSync(join(REPOSITORY, 'dist/src', entry), 'utf8')).toMatch(
        /^(#!\/usr\/bin\/env node\n)?import '\.\.?\/program\/[\w-]+\.js';\n$/,
      );
    expect(files.length).toBeLessThan(30);
    const imported = files.flatMap((name) =>
      [...textOf(name).matchAll(/^(?:import|export|\}) (?:[^'"\n]* from )?"([^"\n]+)";$/gm)].map((match) => match[1]!),
    );
    const beside = imported.filter((path) => !isBuiltin(path) && !APART.test(path) && !files.includes(basename(path)));
    expect(beside).toEqual([]);
  });

  it('has only characters that the engine keeps in one byte each', () => {
    const wide = files.filter((name) => /[^\0-\x7f]/.test(textOf(name)));
    expect(wide).toEqual([]);
  });

  it('names classes as their sources do, and makes a function without a cost for its name', () => {
    const definition = files.flatMap((name) => /^var __name = (.*);$/m.exec(textOf(name))?.[1] ?? []);
    expect(definition).toHaveLength(1);
    let defined = 0;
    const define = (target: object, name: string, value: PropertyDescriptor): object => {
      defined += 1;
      return Object.defineProperty(target, name, value);
    };
    const named = new Function('__defProp', `return ${definition[0]}`)(define) as (
      target: object,
      name: string,
    ) => object;
    expect(named(class Renamed2 {}, 'Renamed')).toHaveProperty('name', 'Renamed');
    expect(defined).toBe(1);
    for (const target of [() => 0, async () => 0, async function later() {}]) expect(named(target, 'any')).toBe(target);
    expect(defined).toBe(1);
  });

  it('comes with the licence of every package in it', () => {
    const licences = readFileSync(join(PROGRAM, 'LICENCES.txt'), 'utf8');
    const packages = new Set(
      files.flatMap((name) =>
        [...textOf(name).matchAll(/^\s*\/\/ node_modules\/(?:.*\/node_modules\/)?((?:@[\w.-]+\/)?[\w.-]+)\//gm)].map(
          (match) => match[1]!,
        ),
      ),
    );
    expect(packages.size).toBeGreaterThan(20);
    const heads = licences.split('\n');
    for (const name of packages) expect(heads.some((line) => line.startsWith(`${name} `))).toBe(true);
  });
});
