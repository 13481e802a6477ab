import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fits } from '../../../../src/platform/keys/key-fit.js';
import type { KeyStore } from '../../../../src/platform/keys/key-store.js';
import { openKeyStore } from '../../../../src/platform/keys/open-key-store.js';
import { createLogger } from '../../../../src/platform/logger.js';
import { type P11KitServer, p11KitServer } from '../../../support/p11-kit-server.js';
import { p11kit, softhsm } from '../../../support/prerequisites.js';
import { makeSofthsmTokens, type SofthsmTokens } from '../../../support/softhsm-tokens.js';

describe.skipIf(!softhsm || !p11kit)('a module that reaches its token over a socket', () => {
  let tokens: SofthsmTokens;
  let server: P11KitServer;
  let store: KeyStore;
  let keysDir: string;
  const logged: string[] = [];
  beforeAll(async () => {
    tokens = await makeSofthsmTokens(['archive']);
    server = p11KitServer(join(inject('runFolder'), 'p11'), tokens.environment);
    await server.start();
    keysDir = join(inject('runFolder'), 'p11-keys');
    const keyProvider = { ...tokens.token('archive'), modulePath: p11kit!.modulePath };
    const logger = createLogger('warn', { destination: { write: (line) => logged.push(line) } });
    store = await openKeyStore({ keysDir, keyProvider }, logger);
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
    await tokens?.remove();
  });

  it('makes keys and signs with them; a note key, of a kind that it does not make, alone becomes a file', async () => {
    for (const role of ['issuer', 'token', 'chain', 'note'] as const) {
      const stored = { role, ...(await store.generate(role)) };
      const key = (await store.open(stored))!;
      expect([role, key.place]).toEqual([role, role === 'note' ? 'file' : 'module']);
      expect(await fits(stored.publicJwk, key)).toBe(true);
    }
    expect(await readdir(keysDir)).toHaveLength(1);
    expect(logged.join('')).toMatch(/"role":"note".*the module makes no EdDSA key for note \(CKR_MECHANISM_INVALID\)/);
  });

  it('fails while the token is away, and signs again with the same keys when it is back', async () => {
    const stored = { role: 'seal' as const, ...(await store.generate('seal')) };
    const key = (await store.open(stored))!;
    await Promise.all([1, 2, 3, 4].map(() => fits(stored.publicJwk, key)));
    await server.stop();
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(fits(stored.publicJwk, key)).rejects.toThrow('KEY_PROVIDER');
    await server.start();
    expect(await Promise.all(Array.from({ length: 8 }, () => fits(stored.publicJwk, key)))).not.toContain(false);
  });
});
