import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';

export interface ClamavDaemon {
  readonly tcpUrl: string;
  readonly socketPath: string;
  stop(): Promise<void>;
}

/** The one thing that the daemon of a test knows as bad: a body signature of our own, of this text. */
export const BAD_TEXT = 'vcon-archivist bad content of a test';
export const SIGNATURE = 'Archivist.Test';

/** The real daemon with a database of one line, which takes no more than 1 MiB. */
export async function startClamavDaemon(program: string): Promise<ClamavDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'clamav-test-'));
  const [port, socketPath, database] = [await freePort(), join(folder, 'socket'), join(folder, 'database')];
  await mkdir(database);
  await chmod(folder, 0o755);
  await writeFile(join(database, 'own.ndb'), `${SIGNATURE}:0:*:${Buffer.from(BAD_TEXT).toString('hex')}\n`);
  const settings = [
    `DatabaseDirectory ${database}`,
    `LocalSocket ${socketPath}`,
    `TCPSocket ${port}`,
    'TCPAddr 127.0.0.1',
    'StreamMaxLength 1M',
    'Foreground yes',
    'MaxThreads 2',
    'SelfCheck 0',
    `TemporaryDirectory ${folder}`,
  ];
  await writeFile(join(folder, 'clamd.conf'), `${settings.join('\n')}\n`);
  const daemon = spawn(program, ['--config-file', join(folder, 'clamd.conf')], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const output of [daemon.stdout, daemon.stderr]) {
    output.on('data', (text: Buffer) => {
      said += text.toString();
    });
  }
  const ended = new Promise<void>((resolve) => daemon.once('exit', () => resolve()));
  const stop = async () => {
    daemon.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries < 300 && daemon.exitCode === null) continue;
    await stop();
    throw new Error(`the ClamAV daemon does not start: ${said}`);
  }
  return { tcpUrl: `tcp://127.0.0.1:${port}`, socketPath, stop };
}

async function answers(port: number): Promise<boolean> {
  const answered = await new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('zPING\0'));
    socket.on('data', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('data', () => socket.destroy());
  });
  if (!answered) await new Promise((resolve) => setTimeout(resolve, 100));
  return answered;
}
