import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { failureReason } from '../../explain-failure.js';
import { KeyModuleError } from './key-module-error.js';

/** A PIN in a file, read each time it is needed, so that it can be changed there. */
export interface PinFile {
  /**
   * @throws {Error} with a message for the operator; a PIN that was refused is not tried again, because the token would
   * lock itself
   */
  read(): Promise<Uint8Array>;
  /** Remembers that the token refused the last PIN. */
  refused(): void;
}

export function pinFile(path: string): PinFile {
  let last: string | undefined;
  let bad: string | undefined;
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        throw new KeyModuleError(
          `the PIN cannot be read (${failureReason(error)}): set pin-source to a file that this process may read`,
        );
      });
      const pin = text.replace(/\r?\n$/, '');
      last = createHash('sha256').update(pin).digest('base64url');
      if (last === bad) throw new KeyModuleError(`the token has refused the PIN in ${path}: put the right one there`);
      return Buffer.from(pin, 'utf8');
    },
    refused() {
      bad = last;
    },
  };
}
