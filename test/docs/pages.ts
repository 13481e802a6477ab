import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TOP = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

/** A page of the documents: its path in the repository, and its text. */
export interface DocumentPage {
  readonly path: string;
  readonly text: string;
}

/** Every page that a reader may come to. */
export function documentPages(): DocumentPage[] {
  const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  return [...TOP, ...inDocs].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** The page without its code, in which brackets are no links. */
export function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
}

/** The anchors of a page's headings, as code hosts make them. */
export function anchors(text: string): Set<string> {
  const titles = [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1]!);
  return new Set(
    titles.map((title) =>
      title
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
