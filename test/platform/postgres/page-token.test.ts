import { describe, expect, it } from 'vitest';
import { createPageTokens } from '../../../src/platform/postgres/page-token.js';

const tokens = createPageTokens(new Uint8Array(32).fill(1));

describe('a page token', () => {
  it('gives back the page that was sealed', () => {
    const page = { list: 'assets', filters: [['attributes.a', 'ü*']], after: 'x' };
    expect(tokens.open(tokens.seal(page))).toEqual(page);
  });

  it('tells its reader nothing of the page, and is the same for the same page', () => {
    const page = { list: 'events of somebody', filters: [], after: '0190a8c0-0000-7000-8000-00000000000a' };
    const token = tokens.seal(page);
    const bytes = Buffer.from(token, 'base64url').toString('latin1');
    for (const text of [page.list, page.after, 'after']) expect(bytes).not.toContain(text);
    expect(tokens.seal(page)).toBe(token);
    expect(tokens.seal({ ...page, after: 'x' }).slice(0, 16)).not.toBe(token.slice(0, 16));
  });

  it('may have filters as long as a request can carry', () => {
    const page = { list: 'assets', filters: [['attributes.a', 'x'.repeat(20_000)]], after: 'x' };
    expect(tokens.open(tokens.seal(page))).toEqual(page);
  });

  it('is refused after any change of a character', () => {
    const token = tokens.seal({ after: 'abc' });
    for (let place = 0; place < token.length; place += 1) {
      const other = token[place] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, place) + other + token.slice(place + 1);
      // The last character has bits that no byte holds.
      if (Buffer.from(changed, 'base64url').equals(Buffer.from(token, 'base64url'))) continue;
      expect(() => tokens.open(changed)).toThrow('page_token');
    }
  });

  it.each(['', 'x', '!!!', 'A'.repeat(22), 'A'.repeat(100_000), '\0'])('is refused when it never was one', (token) => {
    expect(() => tokens.open(token)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });

  it('is refused when another deployment sealed it', () => {
    const other = createPageTokens(new Uint8Array(32).fill(2));
    expect(() => tokens.open(other.seal({ after: 'abc' }))).toThrow('page_token');
  });
});
