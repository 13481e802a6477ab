import { describe, expect, it } from 'vitest';
import { commandLine } from '../support/command-line.js';

async function help(...command: string[]): Promise<string> {
  const { said, exitCode } = await commandLine([...command, '--help']);
  expect(exitCode).toBe(0);
  return said;
}

/** Names of the commands that a help text lists. */
function listed(text: string): string[] {
  const [, commands = ''] = text.split('\nCommands:\n');
  return [...commands.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map((match) => match[1]!).filter((name) => name !== 'help');
}

async function everyCommand(parents: readonly string[] = []): Promise<string[][]> {
  const found: string[][] = [];
  for (const name of listed((await help(...parents)).split('\nExample')[0]!)) {
    const command = [...parents, name];
    found.push(command, ...(await everyCommand(command)));
  }
  return found;
}

const commands = await everyCommand();

describe('the help of the command line', () => {
  it('covers the commands and their subcommands', () => {
    const names = commands.map((command) => command.join(' '));
    expect(names).toEqual(expect.arrayContaining(['serve', 'verify', 'plugin receipt', 'queue drop', 'keys sign']));
  });

  it.each(commands.map((command) => [command.join(' '), command] as const))(
    '%s has a description and an example that runs this command',
    async (name, command) => {
      const text = await help(...command);
      const [, description = ''] = text.split('\n\n');
      expect(description).toMatch(/^[a-z]/);
      expect(description).not.toMatch(/^(Options|Arguments|Commands):/);
      const [, examples = ''] = text.split(/\nExamples?:\n/);
      const lines = examples.split('\n').filter((line) => line.startsWith('  '));
      const isGroup = listed(text.split('\nExample')[0]!).length > 0 && lines.length > 0;
      expect(lines.length).toBeGreaterThan(0);
      // `plugin doctor` has the shorter name `doctor`, which its examples use.
      const called = isGroup ? command[0] : name.replace('plugin doctor', 'doctor');
      for (const line of lines) expect(line).toContain(`vcon-archivist ${called}`);
    },
  );
});
