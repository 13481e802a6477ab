import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { newKeyPair, newKeyPairApart } from '../../../src/platform/keys/new-key-pair.js';
import { turnsDuring } from '../../support/turns-during.js';

const BUILT = new URL('../../../dist/src/platform/keys/new-key-pair.js', import.meta.url);
/** Generates and exports keys while memory is collected all the time. */
const PROGRAM = `
const { newKeyPair, newKeyPairApart } = await import(${JSON.stringify(BUILT.href)});
for (let count = 0; count < 3000; count += 1) {
  const { publicKey, privateKey } =
    count % 100 === 0 ? await newKeyPairApart({ type: 'rsa', bits: 1024 }) : newKeyPair({ type: 'ec', curve: 'P-256' });
  for (const key of [publicKey, privateKey]) key.export({ format: 'jwk' });
}
console.log('exported');
`;

describe('a new key pair', () => {
  it.each([
    [
      { type: 'ec', curve: 'P-256' },
      { asymmetricKeyType: 'ec', asymmetricKeyDetails: { namedCurve: 'prime256v1' } },
    ],
    [
      { type: 'ec', curve: 'secp256k1' },
      { asymmetricKeyType: 'ec', asymmetricKeyDetails: { namedCurve: 'secp256k1' } },
    ],
    [
      { type: 'rsa', bits: 2048 },
      { asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength: 2048 } },
    ],
    [{ type: 'ed25519' }, { asymmetricKeyType: 'ed25519' }],
  ] as const)('of %j is of that kind, and both halves belong together', async (kind, expected) => {
    for (const { publicKey, privateKey } of [newKeyPair(kind), await newKeyPairApart(kind)]) {
      expect([privateKey.type, publicKey.type]).toEqual(['private', 'public']);
      expect(privateKey).toMatchObject(expected);
      const { kty, crv, x, y, n, e } = privateKey.export({ format: 'jwk' });
      expect(publicKey.export({ format: 'jwk' })).toEqual(JSON.parse(JSON.stringify({ kty, crv, x, y, n, e })));
    }
  });

  it('of RSA is found while the event loop turns', async () => {
    expect(await turnsDuring(() => newKeyPairApart({ type: 'rsa', bits: 2048 }))).toBeGreaterThan(10);
  });

  it('never stops its process, whenever memory is collected while a key is exported', async () => {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--max-semi-space-size=1', '--input-type=module', '-e', PROGRAM], {
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    expect(stdout).toBe('exported\n');
  }, 90_000);
});
