import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fits } from '../../../../src/platform/keys/key-fit.js';
import type { KeyStore } from '../../../../src/platform/keys/key-store.js';
import { openKeyStore } from '../../../../src/platform/keys/open-key-store.js';
import { createLogger } from '../../../../src/platform/logger.js';
import { p11kit, softhsm } from '../../../support/prerequisites.js';
import { makeSofthsmTokens, type SofthsmTokens } from '../../../support/softhsm-tokens.js';

/** SoftHSM in a process of its own, as an appliance would be, with one child for each client. */
describe.skipIf(!softhsm || !p11kit)('a module that reaches its token over a socket', () => {
  let tokens: SofthsmTokens;
  let socket: string;
  let server: ChildProcess;
  let store: KeyStore;
  let keysDir: string;
  const logged: string[] = [];
  beforeAll(async () => {
    tokens = await makeSofthsmTokens(['archive']);
    socket = join(inject('runFolder'), 'p11');
    process.env['P11_KIT_SERVER_ADDRESS'] = `unix:path=${socket}`;
    await startServer();
    keysDir = join(inject('runFolder'), 'p11-keys');
    const keyProvider = { ...tokens.token('archive'), modulePath: p11kit!.modulePath };
    const logger = createLogger('warn', { destination: { write: (line) => logged.push(line) } });
    store = await openKeyStore({ keysDir, keyProvider }, logger);
  });
  afterAll(async () => {
    await store?.close();
    await stopServer();
    await tokens?.remove();
  });

  async function startServer(): Promise<void> {
    await rm(socket, { force: true });
    const args = ['server', '-f', '-n', socket, '--provider', softhsm!.modulePath, 'pkcs11:'];
    server = spawn(p11kit!.program, args, {
      env: { PATH: process.env['PATH'], ...tokens.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // It prints where it listens once it does.
    await once(server.stdout!, 'data');
  }

  async function stopServer(): Promise<void> {
    const { pid } = server;
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
    const ended = once(server, 'exit');
    for (const process_ of [pid!, ...children.map(Number)]) process.kill(process_, 'SIGKILL');
    await ended;
  }

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
    await stopServer();
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(fits(stored.publicJwk, key)).rejects.toThrow('KEY_PROVIDER');
    await startServer();
    expect(await Promise.all(Array.from({ length: 8 }, () => fits(stored.publicJwk, key)))).not.toContain(false);
  });
});
