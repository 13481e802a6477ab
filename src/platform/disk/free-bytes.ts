import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An object store makes a file for each object: a file system without free inodes is as full as one without bytes. */
const LEAST_INODES = 256;

/**
 * Free bytes of a folder's file system for a process without privileges; 0 if it cannot hold more files. The folder need
 * not exist yet. @throws the error of the file system
 */
export async function freeBytesOf(folder: string): Promise<number> {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder);
    return files > 0 && ffree < LEAST_INODES ? 0 : bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    return freeBytesOf(parent);
  }
}
