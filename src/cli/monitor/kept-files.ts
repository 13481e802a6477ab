import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What a monitor remembers of one log, on its own disk: what it has seen can never be taken back. */
export interface KeptFiles {
  read(name: string): Promise<Uint8Array | undefined>;
  /** Durable when it resolves; a crash leaves the old content or the new one. */
  write(name: string, content: Uint8Array | string): Promise<void>;
}

/** Files under a folder, which is made when it is first written to. */
export function keptFiles(folder: string): KeptFiles {
  return {
    async read(name) {
      try {
        return new Uint8Array(await readFile(join(folder, name)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(name, content) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      const file = await open(`${path}.new`, 'w');
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}.new`, path);
    },
  };
}
