import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { equalBytes } from '../../core/bytes.js';
import { makeFolder, replaceFile } from '../../platform/durable-file.js';

/** What a monitor remembers of one log, on its own disk, so that the log cannot deny an earlier state. */
export interface KeptFiles {
  read(name: string): Promise<Uint8Array | undefined>;
  /** Durable when it resolves; a crash leaves the old content or the new one. The same content is not written again. */
  write(name: string, content: Uint8Array): Promise<void>;
  /** Saves conflicting content in a file of its own; earlier alarms are kept. */
  alarm(name: string, content: Uint8Array): Promise<void>;
  /** Unix milliseconds of the last write that changed something; undefined without the file. */
  changedAt(name: string): Promise<number | undefined>;
}

/** File of the size of a log that has entries: it changes only when the log grows. */
export const SIZE = 'size';

/** The saved state is damaged, so the log cannot be compared with it. */
export class StateDamaged extends Error {
  override readonly name = 'StateDamaged';
}

const MODE = 0o644;
const FOLDER_MODE = 0o777;

const missing = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
};

/** Keeps files in a folder, which the first write creates. */
export function keptFiles(folder: string): KeptFiles {
  const read = async (name: string): Promise<Uint8Array | undefined> => {
    const content = await readFile(join(folder, name)).catch(missing);
    return content && new Uint8Array(content);
  };
  const write = async (name: string, content: Uint8Array): Promise<void> => {
    const before = await read(name);
    if (before && equalBytes(before, content)) return;
    const path = join(folder, name);
    await makeFolder(dirname(path), FOLDER_MODE);
    await replaceFile(path, content, MODE);
  };
  return {
    read,
    write,
    alarm(name, content) {
      const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
      return write(join('alarm', name.replace(/^[^.]*/, `$&-${digest}`)), content);
    },
    async changedAt(name) {
      return (await stat(join(folder, name)).catch(missing))?.mtimeMs;
    },
  };
}
