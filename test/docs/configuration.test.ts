import { describe, expect, it } from 'vitest';
import { CONFIG_VARIABLES } from '../../src/service/config/environment.js';
import { documentPages } from './pages.js';

const page = documentPages().find(({ path }) => path === 'docs/operate/configuration.md')!;
const described = [...page.text.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap((row) =>
  [...row[1]!.matchAll(/`(\w+)`/g)].map((match) => match[1]!),
);

describe('the page on configuration', () => {
  it('describes every variable that the program reads, once, and no other', () => {
    expect(described.toSorted()).toEqual(CONFIG_VARIABLES.toSorted());
  });
});
