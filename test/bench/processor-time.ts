import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';

/** Linux reports processor time in these units (`sysconf(_SC_CLK_TCK)`), whatever the kernel's own rate is. */
const TICKS_PER_SECOND = 100;

/** Fields of /proc/<pid>/stat after the name, which may contain spaces (proc(5)). */
async function statOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

const PARENT = 1;
const USER = 11;
const CHILDREN_SYSTEM = 14;

const seconds = (stat: readonly string[], last: number): number =>
  stat.slice(USER, last + 1).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;

/** Seconds that the processors have worked for one process, all its threads; 0 once it has ended. Linux only. */
export async function processSeconds(pid: number): Promise<number> {
  return seconds(await statOf(pid), USER + 1);
}

/** The main process of a PostgreSQL server on this machine; undefined if it runs elsewhere. */
export async function postmasterOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const parent = Number((await statOf(rows[0]!.pid))[PARENT]);
  return Number.isInteger(parent) && parent > 1 ? parent : undefined;
}

/** Seconds of a server's main process and all its children, those that have ended too. */
export async function serverSeconds(postmaster: number): Promise<number> {
  let sum = seconds(await statOf(postmaster), CHILDREN_SYSTEM);
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await statOf(Number(name));
    if (Number(stat[PARENT]) === postmaster) sum += seconds(stat, USER + 1);
  }
  return sum;
}
