import { existsSync } from 'node:fs';
import { MessageChannel, Worker } from 'node:worker_threads';
import type pg from 'pg';
import { concatBytes } from '../../core/bytes.js';
import type { DurableFilesOptions } from './durable-files.js';
import type { FromEngine, ToEngine } from './engine-messages.js';
import { engineStream } from './engine-stream.js';

/** An embedded PostgreSQL. All its clients share one session. */
export interface Engine {
  /** How a client of the driver connects to it. */
  readonly config: pg.ClientConfig;
  /** Ends it when it has answered what was asked before. */
  close(): Promise<void>;
}

/** An engine that loads its program. */
interface LoadingEngine {
  /** Opens the files of a cluster, and recovers them from a crash; makes them in an empty folder. Ends if that fails. */
  open(cluster: string): Promise<Engine>;
  /** Ends it if nothing is to be opened. */
  close(): Promise<void>;
}

/** What `Worker` and `MessagePort` have in common. */
interface Port {
  postMessage(message: ToEngine, transferred?: readonly ArrayBuffer[]): void;
  on(event: 'message', heard: (told: FromEngine) => void): unknown;
}

interface Asked {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

const PROGRAM = new URL('./engine-worker.js', import.meta.url);

/**
 * Starts an engine in a thread of its own, so that its statements and its syncs hold nothing else up. If an open engine
 * ends by itself, its process ends too: what it has confirmed is on disk. A program that runs from its sources has no file
 * for a thread: there, and with a sync of the caller's, the engine works in the thread that calls it.
 */
export function startEngine(sync?: DurableFilesOptions['sync']): LoadingEngine {
  const asked: Asked[] = [];
  let isOpen = false;
  let failure: Error | undefined;
  function ended(error: Error): void {
    if (isOpen) throw error;
    failure ??= error;
    for (const { reject } of asked.splice(0)) reject(error);
  }
  const port: Port = !sync && existsSync(PROGRAM) ? thread(ended) : thisThread(sync);
  port.on('message', (told) => {
    if (typeof told === 'object' && 'died' in told) return ended(new Error(`the embedded database died: ${told.died}`));
    const { resolve, reject } = asked.shift()!;
    if (typeof told === 'object' && 'failed' in told)
      reject(Object.assign(new Error(told.failed), { code: told.code }));
    else resolve(told);
  });
  const ask = (message: ToEngine): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      asked.push({ resolve, reject });
      port.postMessage(message, message instanceof Uint8Array ? [message.buffer as ArrayBuffer] : []);
    });
  const execute = (queries: readonly Uint8Array[]) => ask(concatBytes(...queries)) as Promise<Uint8Array>;
  let closing: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    isOpen = false;
    closing ??= ask('close');
    await closing;
  };
  return {
    async open(cluster) {
      try {
        await ask({ cluster });
      } catch (error) {
        await close().catch(() => undefined);
        throw error;
      }
      isOpen = true;
      return { config: { stream: () => engineStream(execute), ssl: false, user: 'postgres' }, close };
    },
    close,
  };
}

function thread(ended: (error: Error) => void): Port {
  const worker = new Worker(PROGRAM);
  worker.on('error', ended);
  worker.on('exit', (code) => {
    if (code !== 0) ended(new Error(`the thread of the embedded database ended with ${code}`));
  });
  return worker;
}

/** To clear its buffers, the engine stops the thread: 64 MB take a fifth of a second. */
function thisThread(sync: DurableFilesOptions['sync']): Port {
  const { port1, port2 } = new MessageChannel();
  void import('./serve-engine.js').then(({ serveEngine }) => serveEngine(port2, { sync, buffers: '16MB' }));
  return port1;
}
