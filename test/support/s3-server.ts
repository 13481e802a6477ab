import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readS3Url, type S3Place, s3Place } from '../../src/platform/s3/s3-place.js';
import { freePort } from './free-port.js';
import { s3ServerPath } from './prerequisites.js';

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'archivist', AWS_SECRET_ACCESS_KEY: 'secret-of-4175' };
const READY_WITHIN_MS = 30_000;

/** A server of a test's own that speaks S3 and keeps objects in a folder (versitygw). */
export interface S3Server {
  /** Makes a bucket. Resolves with the variables of a service that keeps its objects there. */
  bucket(name: string): Promise<Record<'OBJECT_STORE_URL' | 'AWS_ENDPOINT_URL_S3', string> & typeof CREDENTIALS>;
  /** The same as a place. */
  place(name: string, path?: string): Promise<S3Place>;
  /** Where the server keeps a bucket: each object is a file. */
  folder(bucket: string): string;
  /** Ends the server as a crash does, and starts it again on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function makeS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  const [objects, sidecar] = [join(folder, 'objects'), join(folder, 'sidecar')];
  for (const each of [objects, sidecar, join(folder, 'uploads')]) await mkdir(each);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  let running: ReturnType<typeof spawn> | undefined;

  async function start(): Promise<void> {
    const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = CREDENTIALS;
    const settings = ['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, '--keep-alive', '--quiet'];
    running = spawn(s3ServerPath!, [...settings, 'posix', '--sidecar', sidecar, objects], { stdio: 'ignore' });
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await answers(endpoint))) {
      if (performance.now() > deadline) throw new Error('the S3 server does not start');
      await wait(50);
    }
  }

  async function stop(): Promise<void> {
    if (!running) return;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
    running = undefined;
  }

  async function bucket(name: string) {
    await mkdir(join(objects, name), { recursive: true });
    return { OBJECT_STORE_URL: `s3://${name}`, AWS_ENDPOINT_URL_S3: endpoint, ...CREDENTIALS };
  }

  await start();
  return {
    bucket,
    async place(name, path = '') {
      const { OBJECT_STORE_URL, ...variables } = await bucket(name);
      return s3Place(
        readS3Url(`${OBJECT_STORE_URL}${path}`)!,
        {
          AWS_REGION: 'us-east-1',
          AWS_ENDPOINT_URL: undefined,
          AWS_SESSION_TOKEN: undefined,
          ...variables,
        },
        folder,
      );
    },
    folder: (name) => join(objects, name),
    stop,
    start,
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    () => true,
    () => false,
  );
}
