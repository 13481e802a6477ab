import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentPages, ROOT, withoutCode } from './pages.js';

/** Phrases that a native reader has to decode, each with what to write instead. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/(?<!there )\b(is|are) none\b/i, 'say what there is, or "there is no …"'],
  [/\ball the same\b/i, 'still'],
  [/\bas often as it takes\b/i, 'retries until it succeeds'],
  [/\bwho(m)?ever\b/i, 'name the party'],
  [/\b(is|are|was|were) asked for\b/i, 'requested, checked'],
  [/(^|[.:;] )Who (is|has|reads|holds|waits|may|asks|takes|sees|signs|checks|wants|keeps)\b/, 'name the subject'],
  [/, who (is|has|reads|holds|waits|may|asks|takes)\b/, 'name the subject'],
  [/\bfor ever and ever\b/i, 'for ever'],
  [/\bcomes in\b/i, 'is accepted'],
  [/\bnone of its\b/i, 'not its …'],
  [/\blearn(s)? of\b.*\bby being\b/i, 'name the subject'],
  [/\bby (him|her)self\b/i, 'by itself'],
  [/\b(he|she|his|him|himself)\b/i, 'it, they, or the name of the party'],
  [/\bsomebody's\b/i, "a user's, another …'s"],
  [/\bit is of no\b/i, 'say what happens'],
];

/** What a comment or docstring says, without the code beside it. */
function comments(source: string): string {
  const blocks = [...source.matchAll(/\/\*[\s\S]*?\*\//g)].map((match) => match[0]);
  const lines = [...source.matchAll(/(?:^|\s)\/\/ (.*)$/gm)].map((match) => match[1]!);
  return [...blocks, ...lines].join('\n').replace(/\n\s*\* ?/g, ' ');
}

function faults(name: string, text: string): string[] {
  return BANNED.flatMap(([phrase, instead]) => {
    const found = phrase.exec(text);
    return found
      ? [`${name}: "${text.slice(Math.max(0, found.index - 30), found.index + 50).replaceAll('\n', ' ')}": ${instead}`]
      : [];
  });
}

describe('words that a reader has to decode', () => {
  it.each(documentPages().map(({ path, text }) => [path, text] as const))('are not in %s', (path, text) => {
    expect(faults(path, withoutCode(text))).toEqual([]);
  });

  it.each([
    'src/core',
    'src/filter',
    'src/platform',
    'src/ledger',
    'src/iam',
    'src/archivist',
    'src/scitt',
    'src/service',
    'src/cli',
    'plugins',
    'demo',
    'examples',
  ])('are not in the comments of %s', (folder) => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.flatMap((file) => faults(relative(ROOT, file), comments(readFileSync(file, 'utf8'))))).toEqual([]);
  });
});
