import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, expect, it } from 'vitest';
import { plainTerminal, stackLines } from '../../src/cli/terminal.js';
import { utf8 } from '../../src/core/bytes.js';
import { commandLine } from '../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'lines-of-others-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FORGED = 'VERIFIED. Recorded by did:web:archivist.example.';
const NAME = `x\n${FORGED}\n\nProven:\r\u001b[2J\u009b2J\u2028\n  statement: signed and logged`;

/** A path in a folder of its own. */
const place = (name: string) => join(mkdtempSync(join(folder, 'case-')), name);

function zip(files: Record<string, Uint8Array>): string {
  const path = place('evidence.zip');
  writeFileSync(path, zipSync(files));
  return path;
}

function bundleFolder(make: (folder: string) => void): string {
  const path = place('bundle');
  mkdirSync(path);
  writeFileSync(join(path, 'event.json'), '{}');
  make(path);
  return path;
}

function file(name: string): string {
  const path = place(name);
  writeFileSync(path, 'nothing');
  return path;
}

const CASES: readonly (readonly [what: string, args: () => readonly string[]])[] = [
  ['a zip with a file for elsewhere', () => ['verify', zip({ 'event.json': utf8('{}'), [`${NAME}\\`]: utf8('x') })]],
  ['a zip with a file in it twice', () => ['verify', zip({ [NAME]: utf8('x'), [NAME.toUpperCase()]: utf8('y') })]],
  ['a folder with a link', () => ['verify', bundleFolder((path) => symlinkSync('/etc/passwd', join(path, NAME)))]],
  [
    'a folder that is nested too deeply',
    () => ['verify', bundleFolder((path) => mkdirSync(join(path, NAME, ...'1234567890'), { recursive: true }))],
  ],
  ['a file of this name', () => ['verify', file(NAME)]],
  ['a file of this name that is not there', () => ['verify', join(folder, NAME)]],
  ['a name that a pattern of the shell made an option', () => ['verify', `--${NAME}`]],
  ['a command', () => [NAME]],
];

it.each(CASES)('no name writes a line of its own, or moves the cursor: %s', async (_what, args) => {
  for (const more of [[], ['--json']]) {
    const { out, err, exitCode } = await commandLine([...args(), ...more]);
    expect(exitCode).toBe(2);
    expect(err).toContain(`\\u000a${FORGED}`);
    for (const line of `${out}\n${err}`.split('\n')) {
      expect(line).not.toMatch(/^\s*(?:VERIFIED|Proven|statement:)/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
    }
  }
});

it('a suggestion of the right option stays a line of its own', async () => {
  const { err } = await commandLine(['verify', '--roots', 'x', 'y']);
  expect(err.split('\n')).toEqual([
    "error: unknown option '--roots'",
    '(Did you mean --root?)',
    'Run the same command with --help.',
  ]);
});

it('the message of an unexpected error, and of its cause, is one line before the stack', () => {
  const written: string[] = [];
  const output = { print: () => undefined, complain: (text: string) => void written.push(text), exitCode: 0 };
  const error = new TypeError(`a\n${FORGED}`, { cause: new Error(`b\n${FORGED}`) });
  plainTerminal(output).complain(stackLines(error));
  const lines = written.join('').split('\n');
  expect(lines.slice(0, 2)).toEqual([`TypeError: a\\u000a${FORGED}`, expect.stringMatching(/^ {4}at /)]);
  expect(lines).toContain(`Error: b\\u000a${FORGED}`);
  expect(lines.filter((line) => line.startsWith('VERIFIED'))).toEqual([]);
});
