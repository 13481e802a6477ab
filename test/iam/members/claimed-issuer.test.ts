import { describe, expect, it } from 'vitest';
import { claimedIssuer } from '../../../src/iam/members/authenticate-member.js';

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenOf = (iss: unknown) => `${part({ alg: 'ES256' })}.${part({ iss })}.x`;

describe('the issuer that a token claims, which anybody may send and which is remembered', () => {
  it('is a text that an issuer can be', () => {
    const longest = `https://${'a'.repeat(1016)}`;
    for (const issuer of ['https://idp.example', longest]) expect(claimedIssuer(tokenOf(issuer))).toBe(issuer);
  });

  it.each<[string, unknown]>([
    ['many objects, which take much more memory than the token', Array(3_900).fill({})],
    ['an object', { a: 1 }],
    ['a number', 5],
    ['a text longer than an issuer', 'a'.repeat(1025)],
    ['nothing', undefined],
  ])('is nothing if it is %s', (_, issuer) => {
    expect(claimedIssuer(tokenOf(issuer))).toBeUndefined();
  });

  it('is nothing if the token is no token, or longer than any', () => {
    for (const token of ['', 'a', 'a.b.c', tokenOf('a'.repeat(17_000))]) expect(claimedIssuer(token)).toBeUndefined();
  });
});
