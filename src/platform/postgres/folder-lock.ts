import { randomUUID } from 'node:crypto';
import { link, mkdir, rename, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

const NAME = 'in-use.sock';
/** A socket's path has about a hundred bytes. */
const MAX_PATH = 100;

/** Held until released, or until the process ends in whatever way. */
export interface FolderLock {
  release(): Promise<void>;
}

/**
 * Takes a folder for this process alone. The lock is a listening socket in it: who can connect knows that the holder
 * lives, and a killed holder leaves a socket that nobody answers, which the next one removes.
 * @throws {Error} when another process has the folder
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  await mkdir(folder, { recursive: true });
  const place = join(folder, NAME);
  const own = join(folder, `.${randomUUID().slice(0, 8)}.sock`);
  if (own.length > MAX_PATH) throw new Error(`The path ${folder} is too long for a lock in it; use a shorter one.`);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(own, resolve);
  });
  server.unref();
  try {
    while (!(await linked(own, place))) await removeStale(folder, place);
  } catch (error) {
    server.close();
    throw error;
  }
  return {
    async release() {
      await unlink(place).catch(() => undefined);
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function linked(own: string, place: string): Promise<boolean> {
  try {
    await link(own, place);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves the socket aside before it judges it, so that of two who find it stale neither removes the other's new one. */
async function removeStale(folder: string, place: string): Promise<void> {
  const inUse = new Error(`Another process uses the folder ${folder}. Stop it, or set DATA_DIR to another folder.`);
  if (await answers(place)) throw inUse;
  const aside = join(folder, `.${randomUUID().slice(0, 8)}.old`);
  try {
    await rename(place, aside);
  } catch {
    return;
  }
  if (await answers(aside)) {
    await linked(aside, place);
    await unlink(aside);
    throw inUse;
  }
  await unlink(aside);
}

function answers(place: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
