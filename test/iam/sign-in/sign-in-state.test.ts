import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sessionCookieName } from '../../../src/iam/sessions/session.js';
import { createSignInStates, placeInConsole } from '../../../src/iam/sign-in/sign-in-state.js';
import { createSealedBox } from '../../../src/platform/keys/sealed-box.js';

const secret = new Uint8Array(32).fill(7);
const random = (count: number) => new Uint8Array(randomBytes(count));
const box = (purpose = 'sign-in', key = secret) => createSealedBox(key, purpose, random);
const state = {
  tenantId: 't',
  issuer: 'i',
  state: 's',
  nonce: 'n',
  verifier: 'v',
  returnTo: '/console',
  toldBy: 'nothing',
} as const;
const cookieOf = (header: string) => header.slice(0, header.indexOf(';'));

describe('what a sign-in remembers', () => {
  it('comes back to the browser that has it, for ten minutes', () => {
    let now = 0;
    const states = createSignInStates({ box: box(), publicUrl: 'https://archivist.example', now: () => now });
    const header = states.keep(state);
    expect(header).toMatch(/^__Host-archivist-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
    expect(states.read(`a=b; ${cookieOf(header)}`)).toMatchObject(state);
    now = 600_000;
    expect(states.read(cookieOf(header))).toBeUndefined();
    expect(sessionCookieName('https://archivist.example')).toBe('__Host-archivist-session');
  });

  it('is nothing when it was changed, is another’s, or is missing', () => {
    const states = createSignInStates({ box: box(), publicUrl: 'http://127.0.0.1', now: () => 0 });
    const cookie = cookieOf(states.keep(state));
    const changed = `${cookie.slice(0, -3)}${cookie.endsWith('A') ? 'BBB' : 'AAA'}`;
    const foreign = cookieOf(
      createSignInStates({ box: box('sign-in', random(32)), publicUrl: 'http://127.0.0.1', now: () => 0 }).keep(state),
    );
    for (const each of [changed, foreign, 'archivist-sign-in=', '', undefined])
      expect(states.read(each)).toBeUndefined();
  });
});

describe('a sealed box', () => {
  it('opens for its purpose and its place alone', () => {
    const sealed = box().seal('a secret', 'here');
    expect(box().open(sealed, 'here')).toBe('a secret');
    expect(sealed).not.toBe(box().seal('a secret', 'here'));
    expect(box().open(sealed, 'there')).toBeUndefined();
    expect(box('another').open(sealed, 'here')).toBeUndefined();
    expect(box().open(sealed.slice(0, 20), 'here')).toBeUndefined();
  });
});

describe('a place to return to', () => {
  it.each(['/console', '/console/events?subject=vcon://x', '/console#top'])('may be %s', (place) => {
    expect(placeInConsole(place)).toBe(place);
  });

  it.each(['/console/a/../b', '/console/./b', '/console/%2E/a/%2e%2E/b'])(
    'may name segments to leave out: %s',
    (place) => {
      expect(placeInConsole(place)).toBe('/console/b');
    },
  );

  it.each([
    ...[undefined, '', '/', '//console', '/console//\\x', 'https://a/console', '/consoles', '/console/\u00a0'],
    ...['/console/..', '/console/../archivist/v2/assets', '/console/../../x', '/console/..//evil.example'],
    ...['/console/%2e%2e/%2fevil.example', '/console/.%2E/x', '/console/a/../../x', '/console/../consoles'],
  ])('is the console instead of %s', (place) => {
    expect(placeInConsole(place)).toBe('/console');
  });
});
