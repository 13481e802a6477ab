import { randomUUID } from 'node:crypto';
import { link, open, readdir, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from '../durable-file.js';

/** A lock's name has its number; each new holder of the folder takes the next one. */
const LOCK = /^lock\.(\d{1,15})$/;
/** The path of a socket is limited to about a hundred bytes. */
const MAX_SOCKET_PATH = 100;
/** A killed holder's socket, one whose name is gone, and one that a copy of the folder made a plain file. */
const NO_HOLDER: readonly unknown[] = ['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'];

/** Another process, which is alive, holds the folder. */
export class FolderLocked extends Error {
  override readonly name = 'FolderLocked';
}

/** Held until it is released or the process ends, for any reason. */
interface FolderLock {
  release(): Promise<void>;
}

/**
 * Locks a folder for this process. A lock is a listening socket in the folder: if another process can connect to it,
 * its holder is alive; a killed holder leaves a socket that does not answer. The highest number is the lock. Names are
 * created with `link`, so that only one of two processes succeeds. A name is removed only by the holder of a higher
 * one, so that no process can mistake an old lock for the last one.
 * @throws {FolderLocked} if another process has locked the folder
 * @throws {Error} if the lock may not be asked, because it belongs to another user
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  await makeFolder(folder);
  const handle = await open(folder, 'r');
  const sockets = socketFolder(folder, handle.fd);
  const own = `.${randomUUID().slice(0, 8)}`;
  try {
    const server = await listenAt(join(sockets, own));
    try {
      await take(folder, sockets, own);
    } catch (error) {
      server.close();
      throw error;
    } finally {
      // Closing the server has already removed the name.
      await unlink(join(folder, own)).catch(() => undefined);
    }
    return { release: () => new Promise((resolve) => server.close(() => resolve())) };
  } finally {
    await handle.close();
  }
}

/** On Linux an open folder also has a short path, regardless of the length of its own. */
function socketFolder(folder: string, descriptor: number): string {
  if (join(folder, 'lock.').length + 15 <= MAX_SOCKET_PATH) return folder;
  if (process.platform === 'linux') return `/proc/self/fd/${descriptor}`;
  throw new Error(`the path ${folder} is too long for a lock in it: use a shorter one`);
}

async function take(folder: string, sockets: string, own: string): Promise<void> {
  for (;;) {
    const last = await highestLock(folder);
    if (last > 0 && (await isAnswered(join(sockets, `lock.${last}`))))
      throw new FolderLocked(`another process uses ${folder}: stop it, or set DATA_DIR to another folder`);
    if (!(await linked(join(folder, own), join(folder, `lock.${last + 1}`)))) continue;
    // A process that was delayed may have linked a number that is long outdated.
    if ((await highestLock(folder)) > last + 1) continue;
    await removeLocksBelow(folder, last + 1);
    return;
  }
}

async function lockNumbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).flatMap((name) => LOCK.exec(name)?.[1] ?? []).map(Number);
}

async function highestLock(folder: string): Promise<number> {
  return Math.max(0, ...(await lockNumbers(folder)));
}

async function removeLocksBelow(folder: string, number: number): Promise<void> {
  const lower = (await lockNumbers(folder)).filter((each) => each < number);
  await Promise.all(lower.map((each) => unlink(join(folder, `lock.${each}`)).catch(() => undefined)));
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function listenAt(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

/**
 * Whether a process listens at a lock.
 * @throws the system's error if that cannot be known, for example because the socket belongs to another user
 */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (NO_HOLDER.includes(error.code)) resolve(false);
      // A process listens, and has not run its loop since hundreds have asked: a stopped one may go on.
      else if (error.code === 'EAGAIN') resolve(true);
      else reject(error);
    });
  });
}
