import { describe, expect, it } from 'vitest';
import { KeyModuleError } from '../../../../src/platform/keys/pkcs11/key-module-error.js';
import type { Pkcs11Session } from '../../../../src/platform/keys/pkcs11/pkcs11-session.js';
import { createSessionPool } from '../../../../src/platform/keys/pkcs11/session-pool.js';

describe('a module that does not answer', () => {
  it('fails every caller in time, keeps the session that it still uses, and goes on when it answers', async () => {
    let opened = 0;
    const session = { close: async () => undefined } as Pkcs11Session;
    const pool = createSessionPool(
      1,
      async () => {
        opened += 1;
        return session;
      },
      300,
    );
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await expect(pool.run(() => answered)).rejects.toThrow(KeyModuleError);
    let begun = 0;
    const next = pool.run(async () => {
      begun += 1;
    });
    await expect(next).rejects.toThrow('the module does not answer in time');
    expect([opened, begun]).toEqual([1, 0]);
    answer();
    expect(await pool.run(async () => 'signed')).toBe('signed');
    expect([opened, begun]).toEqual([1, 0]);
    await pool.close();
  });
});
