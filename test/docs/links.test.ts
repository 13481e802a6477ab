import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchors, documentPages, ROOT, withoutCode } from './pages.js';

const pages = documentPages();
const textOf = new Map(pages.map(({ path, text }) => [path, text]));

/** The links of a page into the repository, with their anchors. */
function links(text: string): { target: string; anchor: string | undefined }[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [target = '', anchor] = link.split('#');
      return { target, anchor };
    });
}

describe('a link of the documents', () => {
  it.each(pages.map(({ path, text }) => [path, text] as const))(
    'leads to something that is there: %s',
    (path, text) => {
      const broken = links(text).filter(({ target, anchor }) => {
        const place = target === '' ? path : normalize(join(dirname(path), target));
        if (!existsSync(join(ROOT, place))) return true;
        return anchor !== undefined && !anchors(textOf.get(place) ?? '').has(anchor);
      });
      expect(broken).toEqual([]);
    },
  );

  it('leads from the README to every page', () => {
    const reached = new Set<string>();
    const follow = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const { target } of links(textOf.get(path) ?? ''))
        if (target.endsWith('.md')) follow(normalize(join(dirname(path), target)));
    };
    follow('README.md');
    expect(pages.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('a comment in the sources', () => {
  const inFolders = ['src', 'plugins', 'demo', 'deploy', 'examples', 'test', 'scripts'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs|py|yml)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.includes('node_modules')),
  );
  const files = [...inFolders, join(ROOT, 'docker-compose.yml'), join(ROOT, 'Dockerfile')];

  it('cites pages of the repository that are there', () => {
    const broken = files.flatMap((file) => {
      const cited = [...readFileSync(file, 'utf8').matchAll(/\bdocs\/[\w/.-]+\.md(?:#([\w-]+))?/g)];
      return cited
        .filter(([whole, anchor]) => {
          const place = whole.split('#')[0]!;
          return (
            !existsSync(join(ROOT, place)) || (anchor !== undefined && !anchors(textOf.get(place) ?? '').has(anchor))
          );
        })
        .map(([whole]) => `${relative(ROOT, file)}: ${whole}`);
    });
    expect(broken).toEqual([]);
  });

  it('cites no document that is not in the repository', () => {
    const own = 'test/docs/links.test.ts';
    const outside = /\((?:interface|client contract|openapi facts|DESIGN)\b[^)]*\)|\bDESIGN \d/;
    const citing = files.map((file) => relative(ROOT, file)).filter((file) => file !== own);
    expect(citing.filter((file) => outside.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
  });
});
