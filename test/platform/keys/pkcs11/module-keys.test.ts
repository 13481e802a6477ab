import { verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fromBase64, utf8 } from '../../../../src/core/bytes.js';
import { fits } from '../../../../src/platform/keys/key-fit.js';
import type { KeyStore, PrivateKey, StoredKey } from '../../../../src/platform/keys/key-store.js';
import { newKeyPair } from '../../../../src/platform/keys/new-key-pair.js';
import { nodePrivateKey } from '../../../../src/platform/keys/node-private-key.js';
import { openModuleKeys } from '../../../../src/platform/keys/pkcs11/module-keys.js';
import { pinFile } from '../../../../src/platform/keys/pkcs11/pin-file.js';
import { loadPkcs11Module } from '../../../../src/platform/keys/pkcs11/pkcs11-module.js';
import { openPkcs11Session, type Pkcs11Session } from '../../../../src/platform/keys/pkcs11/pkcs11-session.js';
import { rememberSignatures } from '../../../../src/platform/keys/pkcs11/remembered-signatures.js';
import { collectGarbage } from '../../../support/collect-garbage.js';
import { softhsm } from '../../../support/prerequisites.js';
import { breakSessions, makeSofthsmTokens, type SofthsmTokens } from '../../../support/softhsm-tokens.js';

const CKA_PRIVATE_EXPONENT = 0x123n;
const CKA_VALUE = 0x11n;
const CKA_TOKEN = 0x1n;
const CKA_SENSITIVE = 0x103n;
const CKA_EXTRACTABLE = 0x162n;
const CKA_ALWAYS_SENSITIVE = 0x165n;
const CKA_NEVER_EXTRACTABLE = 0x164n;
const CKA_LABEL = 0x3n;

let tokens: SofthsmTokens;
const opened: KeyStore[] = [];
beforeAll(async () => {
  if (!softhsm) return;
  tokens = await makeSofthsmTokens(['archive', 'twin', 'twin']);
  Object.assign(process.env, tokens.environment);
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(() => tokens?.remove());

async function open(): Promise<KeyStore> {
  const store = await openModuleKeys(tokens.token('archive'));
  opened.push(store);
  return store;
}

async function made(store: KeyStore, role: StoredKey['role']): Promise<{ stored: StoredKey; key: PrivateKey }> {
  const stored = { role, ...(await store.generate(role)) };
  return { stored, key: (await store.open(stored))! };
}

describe.skipIf(!softhsm)('a private half in a module', () => {
  it.each([
    ['seal', CKA_VALUE],
    ['note', CKA_VALUE],
    ['chain', CKA_VALUE],
    ['token', CKA_PRIVATE_EXPONENT],
  ] as const)('was made there and never leaves it, under the name of its key: %s', async (role, secret) => {
    const { stored } = await made(await open(), role);
    const token = tokens.token('archive');
    const module = await loadPkcs11Module(token.modulePath);
    const session: Pkcs11Session = await openPkcs11Session(module, token, pinFile(token.pinFile));
    const key = (await session.findPrivateKey(fromBase64(stored.keyId)))!;
    await expect(session.attribute(key, secret)).rejects.toThrow('CKR_ATTRIBUTE_SENSITIVE');
    for (const yes of [CKA_TOKEN, CKA_SENSITIVE, CKA_ALWAYS_SENSITIVE, CKA_NEVER_EXTRACTABLE])
      expect([yes, await session.attribute(key, yes)]).toEqual([yes, Uint8Array.of(1)]);
    expect(await session.attribute(key, CKA_EXTRACTABLE)).toEqual(Uint8Array.of(0));
    expect(Buffer.from(await session.attribute(key, CKA_LABEL)).toString()).toBe(stored.keyId);
    await session.close();
  });

  it.each(['C_CloseAllSessions', 'C_Finalize'] as const)('signs on after %s, for all who ask', async (fault) => {
    const store = await open();
    const { stored, key } = await made(store, 'seal');
    await Promise.all(Array.from({ length: 8 }, () => fits(stored.publicJwk, key)));
    breakSessions(fault);
    expect(await Promise.all(Array.from({ length: 16 }, () => fits(stored.publicJwk, key)))).not.toContain(false);
    breakSessions(fault);
    const next = await made(store, 'issuer');
    expect(await fits(next.stored.publicJwk, next.key)).toBe(true);
  });

  it('signs no more after it was deleted in its token, and is named', async () => {
    const { stored, key } = await made(await open(), 'seal');
    await key.sign(utf8('a seal'));
    await tokens.loseKeys();
    breakSessions('C_Finalize');
    await expect(key.sign(utf8('a seal'))).rejects.toThrow(
      `the private half of the key ${stored.keyId} is gone from its token`,
    );
  });

  it('keeps its module loaded, though nothing but calls refers to it', async () => {
    const { stored, key } = await made(await open(), 'seal');
    for (let round = 0; round < 20; round += 1) {
      const asked = Array.from({ length: 8 }, () => fits(stored.publicJwk, key));
      collectGarbage();
      expect(await Promise.all(asked)).not.toContain(false);
    }
  });
});

describe('a signature that is the same each time', () => {
  it('is asked for once, and again when it could not be had', async () => {
    const { privateKey, publicKey } = newKeyPair({ type: 'ed25519' });
    const key = nodePrivateKey(privateKey);
    let [asked, away] = [0, true];
    const remembering = rememberSignatures({
      ...key,
      async sign(message) {
        asked += 1;
        if (away) throw new Error('away');
        return key.sign(message);
      },
    });
    await expect(Promise.all([1, 2].map(() => remembering.sign(utf8('note'))))).rejects.toThrow('away');
    away = false;
    const signatures = await Promise.all([1, 2, 3].map(() => remembering.sign(utf8('note'))));
    signatures[0]!.fill(0);
    expect(verify(null, utf8('note'), publicKey, await remembering.sign(utf8('note')))).toBe(true);
    expect(verify(null, utf8('other'), publicKey, await remembering.sign(utf8('other')))).toBe(true);
    expect(asked).toBe(3);
  });
});

describe.skipIf(!softhsm)('a module that cannot be used is refused with what to change:', () => {
  const failure = async (change: Partial<ReturnType<SofthsmTokens['token']>>): Promise<string> => {
    const error = await openModuleKeys({ ...tokens.token('archive'), ...change }).catch((reason: Error) => reason);
    return (error as Error).message;
  };

  it('a file that is not there, and a library that is no module', async () => {
    expect(await failure({ modulePath: '/none.so' })).toMatch(
      /^KEY_PROVIDER: \/none\.so cannot be loaded as a PKCS #11 module \(.+\): install it, or set module-path/,
    );
    expect(await failure({ modulePath: 'libm.so.6' })).toMatch(/cannot be loaded as a PKCS #11 module/);
  });

  it('a token that is not there, with those that are, and a label that two have', async () => {
    expect(await failure({ token: 'lost' })).toBe(
      'KEY_PROVIDER: the module has no token "lost"; it has "archive", "twin", "twin": set token to the one with the keys',
    );
    expect(await failure({ token: 'twin' })).toMatch('more than one token "twin": add its serial number');
    expect(await failure({ serial: '0000' })).toMatch('no token "archive" of that serial number');
  });

  it('a PIN that cannot be read', async () => {
    expect(await failure({ pinFile: '/none/pin' })).toMatch(/^KEY_PROVIDER: the PIN cannot be read .* set pin-source/);
  });

  it('a PIN that the token refuses, which it is not shown twice: it would lock itself', async () => {
    const token = tokens.token('archive');
    const wrong = `${token.pinFile}-wrong`;
    const module = await loadPkcs11Module(token.modulePath);
    const pin = pinFile(wrong);
    const attempt = () => openPkcs11Session(module, token, pin).catch((error: Error) => error.message);
    await writeFile(wrong, 'pin-of-nobody\n');
    expect(await attempt()).toBe(
      'KEY_PROVIDER: the token refuses the PIN of pin-source (CKR_PIN_INCORRECT): put the right one there',
    );
    expect(await attempt()).toBe(`KEY_PROVIDER: the token has refused the PIN in ${wrong}: put the right one there`);
    await writeFile(wrong, tokens.pin);
    await ((await attempt()) as Pkcs11Session).close();
  });
});
