import { readdir, readFile } from 'node:fs/promises';

/** What a process holds of the machine. */
export interface ProcessFigures {
  readonly residentMiB: number;
  readonly handles: number;
  readonly threads: number;
  /** Files in DATA_DIR that are not kept on purpose: uploads and spools under way. */
  readonly temporaryFiles: number;
}

/** The database, objects, and what the plugin remembers of each vCon. */
const KEPT = /\/(embedded|blobs|plugin\/memory)(\/|$)/;

/** Reads /proc, so that Linux is needed. @param dataDir DATA_DIR of the process */
export async function processFigures(pid: number, dataDir: string): Promise<ProcessFigures> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const files = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const temporary = files.filter((file) => file.isFile() && !KEPT.test(file.parentPath));
  return {
    residentMiB: Math.round(value('VmRSS') / 1024),
    handles: (await readdir(`/proc/${pid}/fd`)).length,
    threads: value('Threads'),
    temporaryFiles: temporary.length,
  };
}
