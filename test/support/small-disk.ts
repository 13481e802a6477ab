import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small file system of a test's own. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all but so many bytes. */
  fill(leftBytes: number): void;
  /** Gives them back. */
  makeRoom(): void;
  /** Ends it; nobody may use it any more. */
  close(): void;
}

function mount(folder: string, megabytes: number): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'vcon-archivist-test', folder]).status === 0;
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder]);
  rmdirSync(folder);
}

/** Whether this process may mount a file system: a container's root often may not. */
export function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  const mounted = mount(folder, 1);
  if (mounted) unmount(folder);
  else rmdirSync(folder);
  return mounted;
}

export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  if (!mount(folder, megabytes)) throw new Error('a file system cannot be mounted here');
  const ballast = join(folder, 'ballast');
  const makeRoom = (): void => rmSync(ballast, { force: true });
  return {
    folder,
    fill(leftBytes) {
      // Others write there meanwhile.
      for (let attempts = 50; attempts > 0; attempts -= 1) {
        makeRoom();
        const { bavail, bsize } = statfsSync(folder);
        const taken = spawnSync('fallocate', ['-l', String(bavail * bsize - leftBytes), ballast]);
        if (taken.status === 0) return;
      }
      throw new Error('the disk cannot be filled');
    },
    makeRoom,
    close: () => unmount(folder),
  };
}
