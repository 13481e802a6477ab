import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { p11kit, softhsm } from './prerequisites.js';

/** SoftHSM in a process of its own, as an appliance would be, with one child for each client. */
export interface P11KitServer {
  start(): Promise<void>;
  /** Sends a signal to the server and to its children: SIGSTOP freezes the module, SIGCONT lets it answer. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Ends it at once; it may be started again. */
  stop(): Promise<void>;
}

/**
 * Makes this process's clients of p11-kit find the server, which is not started yet.
 * @param environment where SoftHSM finds its tokens
 */
export function p11KitServer(socket: string, environment: Readonly<Record<string, string>>): P11KitServer {
  process.env['P11_KIT_SERVER_ADDRESS'] = `unix:path=${socket}`;
  let server: ChildProcess | undefined;
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    const pid = server!.pid!;
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean);
    for (const each of [pid, ...children.map(Number)]) process.kill(each, name);
  };
  return {
    async start() {
      await rm(socket, { force: true });
      const args = ['server', '-f', '-n', socket, '--provider', softhsm!.modulePath, 'pkcs11:'];
      server = spawn(p11kit!.program, args, {
        env: { PATH: process.env['PATH'], ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      // It prints where it listens once it does.
      await once(server.stdout!, 'data');
    },
    signal,
    async stop() {
      if (!server) return;
      const ended = once(server, 'exit');
      await signal('SIGKILL');
      await ended;
      server = undefined;
    },
  };
}
