import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../../src/core/bytes.js';
import { FingerprintError, parseRootFingerprint, rootFingerprint } from '../../../src/core/keys/root-fingerprint.js';
import { readFixtureFile } from '../../support/read-fixture-file.js';

const { roots } = readFixtureFile<{ roots: { thumbprint: string; fingerprint: string }[] }>('keys/key-manifests.json');
const thumbprints = fc.uint8Array({ minLength: 32, maxLength: 32 });
const refusal = (text: string): string => {
  try {
    parseRootFingerprint(text);
  } catch (error) {
    expect(error).toBeInstanceOf(FingerprintError);
    return (error as Error).message;
  }
  return '';
};

describe('the fingerprint of a root key', () => {
  it('is base32 of the thumbprint and its checksum, in 14 groups of 4', () => {
    for (const { thumbprint, fingerprint } of roots) {
      expect(rootFingerprint(fromHex(thumbprint))).toBe(fingerprint);
      expect(toHex(parseRootFingerprint(fingerprint))).toBe(thumbprint);
      expect(fingerprint).toMatch(/^([A-Z2-7]{4}-){13}[A-Z2-7]{4}$/);
    }
  });

  it('stands for one thumbprint, however it is spaced and cased', () => {
    fc.assert(
      fc.property(thumbprints, fc.infiniteStream(fc.constantFrom('', ' ', '-', '\n', '\t ')), (bytes, gaps) => {
        const written = [...rootFingerprint(bytes).replaceAll('-', '')]
          .map((character, place) => (place % 3 === 0 ? character.toLowerCase() : character) + gaps.next().value)
          .join('');
        expect(parseRootFingerprint(written)).toEqual(bytes);
      }),
    );
  });

  it('is refused with one character changed, and says what to compare', () => {
    fc.assert(
      fc.property(thumbprints, fc.nat(55), fc.integer({ min: 1, max: 31 }), (bytes, place, by) => {
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
        const characters = [...rootFingerprint(bytes).replaceAll('-', '')];
        characters[place] = alphabet[(alphabet.indexOf(characters[place]!) + by) % 32]!;
        expect(refusal(characters.join(''))).toContain('checksum');
      }),
    );
  });

  it('is refused when it is cut off or has a character of another alphabet, in words that say so', () => {
    const { fingerprint } = roots[0]!;
    expect(refusal(fingerprint.slice(0, -5))).toContain('52 characters, not 56');
    expect(refusal(' - ')).toContain('is empty');
    expect(refusal(fingerprint.replace('G', '0'))).toContain('0 is the letter O');
    expect(refusal(fingerprint.replace('G', 'ſ'))).not.toBe('');
  });
});
