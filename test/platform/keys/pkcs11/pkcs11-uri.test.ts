import { describe, expect, it } from 'vitest';
import { parsePkcs11Uri } from '../../../../src/platform/keys/pkcs11/pkcs11-uri.js';
import { ConfigError, parseConfig } from '../../../../src/service/config/config.js';

const ACCESS = 'module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/run/secrets/pin';
const TOKEN = {
  modulePath: '/usr/lib/softhsm/libsofthsm2.so',
  token: 'archive',
  serial: undefined,
  pinFile: '/run/secrets/pin',
};

describe('a PKCS #11 URI', () => {
  it.each([
    [`pkcs11:token=archive?${ACCESS}`, TOKEN],
    [`pkcs11:serial=1f%3b;token=two%20words?${ACCESS}`, { ...TOKEN, token: 'two words', serial: '1f;' }],
    ['pkcs11:token=a?pin-source=file:///run/a%2520pin&module-path=/x.so', { token: 'a', pinFile: '/run/a pin' }],
  ])('names a token in a module, and where its PIN is: %s', (text, expected) => {
    expect(parsePkcs11Uri(text)).toMatchObject(expected);
    expect(parseConfig({ KEY_PROVIDER: text }).keyProvider).toMatchObject(expected);
  });

  it.each([
    ['softhsm', 'must be a URI that begins with pkcs11:'],
    ['pkcs11:', 'must have module-path='],
    [`pkcs11:?${ACCESS}`, 'must name a token by its label'],
    ['pkcs11:token=a?module-path=/x.so', 'must have pin-source=, an absolute path'],
    ['pkcs11:token=a?module-path=x.so&pin-source=/pin', 'must have module-path=, an absolute path'],
    ['pkcs11:token=a?module-path=/x.so&pin-source=|/bin/pin-7193', 'must have pin-source=, an absolute path'],
    [`pkcs11:token=a;object=pin-7193?${ACCESS}`, 'may have token and serial here'],
    [`pkcs11:token=a;token=pin-7193?${ACCESS}`, 'may have token and serial here, each once'],
    [`pkcs11:token=a%7?${ACCESS}`, 'has a % that begins no byte'],
    ['pkcs11:token=a?module-path=/x.so&pin-value=pin-7193', 'must not have a pin-value: keep the PIN in a file'],
    [`pkcs11:token=a;pin-value=pin-7193?${ACCESS}`, 'must not have a pin-value'],
  ])('is refused by what it has to have, without what it has: %s', (text, reason) => {
    const refused = (): unknown => parseConfig({ KEY_PROVIDER: text });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(`KEY_PROVIDER: ${reason}`);
    expect(refused).not.toThrow('pin-7193');
  });
});
