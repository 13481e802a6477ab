import { describe, expect, it } from 'vitest';
import { addressOfWalletKey, isTesseraKey } from '../../../src/iam/subjects/subject-keys.js';

const WALLET =
  '04c1173bf7844bf1c607b79c18db091b9558ffe581bf132b8cf3b37657230fa321a0880b54a79a88b28bc710ede6dcf3d8272c5210bfd41ea83188e385d12c189c';

describe('a wallet key', () => {
  it('has the address of EIP-55, whatever the case of its letters and compressed or not', () => {
    const address = '0x99Fa4AAB0AF2B53f158083D8f244bb4523388197';
    const compressed = `02${WALLET.slice(2, 66)}`;
    expect([WALLET, WALLET.toUpperCase(), compressed].map(addressOfWalletKey)).toEqual([address, address, address]);
  });

  it.each([
    '',
    'key1',
    WALLET.slice(2),
    `${WALLET}00`,
    `0x${WALLET}`,
    `${WALLET.slice(0, -1)}d`,
    `04${'0'.repeat(128)}`,
    '00',
    ` ${WALLET}`,
  ])('is a point of secp256k1 and not %s', (key) => {
    expect(addressOfWalletKey(key)).toBeUndefined();
  });
});

describe('a tessera key', () => {
  it('is base64 of a key of Curve25519 or of a point of P-256', () => {
    const generator =
      '046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5';
    expect(isTesseraKey('efdg9J0QhSB2g4IxKcaXgJmNKbzpxs03FFYIiYYuekk=')).toBe(true);
    expect(isTesseraKey(Buffer.from(generator, 'hex').toString('base64'))).toBe(true);
  });

  it.each(['', 'key3', 'efdg9J0QhSB2g4IxKcaXgJmNKbzpxs03FFYIiYYuekk', `${'A'.repeat(43)}=`, 'AAAA', '!!!!'])(
    'is not %s',
    (key) => {
      expect(isTesseraKey(key)).toBe(false);
    },
  );

  // The points whose order divides 8, and their encodings that are not reduced or have the unused bit set.
  it.each([
    '00'.repeat(32),
    `01${'00'.repeat(31)}`,
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    `ec${'ff'.repeat(30)}7f`,
    `ed${'ff'.repeat(30)}7f`,
    `ee${'ff'.repeat(30)}7f`,
    `ec${'ff'.repeat(31)}`,
  ])('is not the point of low order %s', (point) => {
    expect(isTesseraKey(Buffer.from(point, 'hex').toString('base64'))).toBe(false);
  });
});
