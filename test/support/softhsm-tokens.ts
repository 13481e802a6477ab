import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import koffi from 'koffi';
import type { Pkcs11Token } from '../../src/platform/keys/pkcs11/pkcs11-uri.js';
import { softhsm } from './prerequisites.js';

/** Tokens of a test's own, each by its label, in a SoftHSM that knows no others. */
export interface SofthsmTokens {
  /** What a process that loads the module needs in its environment. */
  readonly environment: { readonly SOFTHSM2_CONF: string };
  /** No process prints it. */
  readonly pin: string;
  token(label: string): Pkcs11Token;
  /** `KEY_PROVIDER` of a token. */
  uri(label: string): string;
  /** Deletes the keys of all tokens, as their administrator can. */
  loseKeys(): Promise<void>;
  remove(): Promise<void>;
}

/** @param settings more lines of the configuration */
export async function makeSofthsmTokens(labels: readonly string[], settings = ''): Promise<SofthsmTokens> {
  const { modulePath, util } = softhsm!;
  const folder = await mkdtemp(join(tmpdir(), 'softhsm-'));
  await mkdir(join(folder, 'tokens'));
  const SOFTHSM2_CONF = join(folder, 'softhsm2.conf');
  await writeFile(
    SOFTHSM2_CONF,
    `directories.tokendir = ${join(folder, 'tokens')}\nobjectstore.backend = file\n${settings}\n`,
  );
  const pin = 'pin-of-7193';
  const pinFile = join(folder, 'pin');
  await writeFile(pinFile, `${pin}\n`, { mode: 0o600 });
  for (const label of labels)
    execFileSync(util, ['--init-token', '--free', '--label', label, '--pin', pin, '--so-pin', '84629173'], {
      env: { SOFTHSM2_CONF },
    });
  return {
    environment: { SOFTHSM2_CONF },
    pin,
    token: (label) => ({ modulePath, token: label, serial: undefined, pinFile }),
    uri: (label) => `pkcs11:token=${label}?module-path=${modulePath}&pin-source=${pinFile}`,
    async loseKeys() {
      for (const name of await readdir(join(folder, 'tokens'), { recursive: true }))
        if (/\/(?!token)[^/]+\.object$/.test(name)) await rm(join(folder, 'tokens', name));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What another user of the module in this process can do to everybody's sessions. */
export function breakSessions(how: 'C_CloseAllSessions' | 'C_Finalize'): void {
  const library = koffi.load(softhsm!.modulePath, { deep: true });
  if (how === 'C_Finalize') {
    requireZero(library.func(how, 'ulong', ['void *'])(null));
    return;
  }
  const [slots, count] = [Buffer.alloc(8 * 16), Buffer.alloc(8)];
  count.writeBigUInt64LE(16n);
  requireZero(library.func('C_GetSlotList', 'ulong', ['uint8_t', 'void *', 'void *'])(1, slots, count));
  for (let place = 0; place < Number(count.readBigUInt64LE()); place += 1)
    requireZero(library.func(how, 'ulong', ['ulong'])(slots.readBigUInt64LE(place * 8)));
}

function requireZero(answer: unknown): void {
  if (Number(answer) !== 0) throw new Error(`the module answers ${String(answer)}`);
}
